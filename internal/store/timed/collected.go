package timed

import (
	"context"
	"time"

	"sightline/internal/analytics"
)

// TrackedWebsite implements analytics.Tracked.
func (c *Catalog) TrackedWebsite(ctx context.Context, trackingID string) (_ analytics.Website, err error) {
	defer c.begin("TrackedWebsite").end(&err)
	return c.Catalog.TrackedWebsite(ctx, trackingID)
}

// TrackedDomain implements analytics.Tracked.
func (c *Catalog) TrackedDomain(ctx context.Context, domain string) (_ analytics.Website, err error) {
	defer c.begin("TrackedDomain").end(&err)
	return c.Catalog.TrackedDomain(ctx, domain)
}

// Salt implements analytics.Salts.
func (c *Catalog) Salt(ctx context.Context, day time.Time, fresh []byte) (_ []byte, err error) {
	defer c.begin("Salt").end(&err)
	return c.Catalog.Salt(ctx, day, fresh)
}

// EraseSalts implements analytics.Salts.
func (c *Catalog) EraseSalts(ctx context.Context, before time.Time) (err error) {
	defer c.begin("EraseSalts").end(&err)
	return c.Catalog.EraseSalts(ctx, before)
}

// Erasures implements analytics.Erasures.
func (c *Catalog) Erasures(ctx context.Context, ago time.Duration, limit int) (_ []int64, err error) {
	defer c.begin("Erasures").end(&err)
	return c.Catalog.Erasures(ctx, ago, limit)
}

// ForgetErasure implements analytics.Erasures.
func (c *Catalog) ForgetErasure(ctx context.Context, website int64) (err error) {
	defer c.begin("ForgetErasure").end(&err)
	return c.Catalog.ForgetErasure(ctx, website)
}
