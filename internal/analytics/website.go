// Package analytics is what the analytics half is about: websites whose visits are counted.
package analytics

import (
	"context"
	"crypto/rand"
	"math/big"
	"strings"
	"time"

	"sightline/internal/access"
	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/site"
	"sightline/internal/trash"
)

// A Website is a site whose visits are counted.
type Website struct {
	ID, AccountID int64
	URL           string         // as its owner wrote it; scheme and host in lower case and ASCII
	Domain        string         // which pages belong to it; follows from URL
	Privacy       access.Privacy // who may open its stats pages
	PasswordHash  string         // argon2id; empty when no password is set
	Email         bool           // whether its owner gets periodic e-mail reports
	ExcludeBots   bool
	ExcludeParams string // query parameters left out of stored pages, see ParseParams
	ExcludeIPs    string // addresses whose visits are not counted, see ParseIPs
	TrackingID    string // public; the tracking snippet carries it
	Version       int64  // grows with each change
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// NewWebsite is a website with the defaults. It still needs a URL.
func NewWebsite(account int64, now time.Time) Website {
	now = now.UTC().Truncate(time.Second)
	return Website{AccountID: account, Privacy: access.Private, ExcludeBots: true, TrackingID: newTrackingID(),
		Version: 1, CreatedAt: now, UpdatedAt: now}
}

// SetURL reads an address into URL and Domain.
func (w *Website) SetURL(text string) error {
	address, err := site.Parse(text)
	if err != nil {
		return fault.Field("url", err.Error())
	}
	w.URL, w.Domain = address.URL, address.Domain
	return nil
}

// Check reports every field that breaks a rule.
func (w *Website) Check() error {
	bad := fault.Invalid{}
	if w.URL == "" {
		bad.Add("url", "is required: an http or https address such as https://example.com")
	}
	if err := bad.Merge(w.Privacy.Check(w.PasswordHash)); err != nil {
		return err
	}
	if _, err := ParseParams(w.ExcludeParams); err != nil {
		bad.Add("exclude_params", err.Error())
	}
	if _, err := ParseIPs(w.ExcludeIPs); err != nil {
		bad.Add("exclude_ips", err.Error())
	}
	return bad.OrNil()
}

// Apply makes a change and checks the result. It reports every field that either finds bad.
func (w *Website) Apply(change func(*Website) error) error {
	bad := fault.Invalid{}
	if err := bad.Merge(change(w)); err != nil {
		return err
	}
	if err := bad.Merge(w.Check()); err != nil {
		return err
	}
	return bad.OrNil()
}

// Edit applies a change to a stored website. One that breaks a rule, or that changes nothing, leaves it as it was.
func (w *Website) Edit(now time.Time, change func(*Website) error) error {
	edited := *w
	if err := edited.Apply(change); err != nil || edited == *w {
		return err
	}
	edited.Version++
	edited.UpdatedAt = now.UTC().Truncate(time.Second)
	*w = edited
	return nil
}

// SearchURL is the folded text in which a search by url looks: the URL (and with it the domain) as kept and,
// where that differs, in its own script.
func (w *Website) SearchURL() string { return listing.Fold(site.BothForms(w.URL)) }

// SearchDomain is the folded text in which a search by domain looks.
func (w *Website) SearchDomain() string { return listing.Fold(site.BothForms(w.Domain)) }

// What a list of websites can be searched and sorted by.
const (
	SearchByURL    = "url"
	SearchByDomain = "domain"
	SortByURL      = "url" // by domain, then url, then id
	SortByCreated  = "created_at"
)

// Websites is where websites rest. Every method is bound to one account: what another account owns is NotFound.
type Websites interface {
	// Websites lists one page of an account's websites.
	Websites(ctx context.Context, account int64, r listing.Request) (listing.Page[Website], error)
	// Website reads one.
	Website(ctx context.Context, account, id int64) (Website, error)
	// CreateWebsite stores a new one for its AccountID and sets its ID, with its receipt if there is one.
	CreateWebsite(ctx context.Context, w *Website, r *receipt.Receipt) error
	// UpdateWebsite reads one, lets edit change it and stores the result, with no other write in between.
	// An error from edit is returned as it is and nothing is written. edit must be quick and may run again.
	UpdateWebsite(ctx context.Context, account, id int64, edit func(*Website) error) (Website, error)
	// DeleteWebsite moves one into the trash, or erases it.
	DeleteWebsite(ctx context.Context, account, id int64, how trash.Deletion) error
	// RestoreWebsite brings one back from the trash into w, with its receipt if there is one.
	RestoreWebsite(ctx context.Context, account, id int64, w *Website, r *receipt.Receipt) error
	// OldestWebsite is the lowest id among an account's websites with a domain.
	OldestWebsite(ctx context.Context, account int64, domain string) (int64, error)
}

// BulkWebsites is where many websites are changed at once.
type BulkWebsites interface {
	// ApplyWebsites finds the oldest website of each domain, lets edit decide what to store, and stores that, with no
	// other bulk change of the account in between: all or nothing. What edit returns without an ID is created, and gets
	// one; what differs from what was found is updated. An error from edit is returned as it is.
	ApplyWebsites(ctx context.Context, account int64, domains []string, edit func(found map[string]Website) ([]*Website, error)) error
}

// newTrackingID is 128 random bits in 22 base62 characters.
func newTrackingID() string {
	var bits [16]byte
	rand.Read(bits[:])
	text := new(big.Int).SetBytes(bits[:]).Text(62)
	return strings.Repeat("0", 22-len(text)) + text
}
