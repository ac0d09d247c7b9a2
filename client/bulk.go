package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// The limits of a bulk change.
const (
	MaxApply          = 1000    // websites
	MaxApplyPasswords = 50      // websites with a password
	MaxApplyBytes     = 1 << 20 // of the JSON array
)

// Applied is what a bulk change did, or would do.
type Applied struct {
	Websites                    []Website // in the order sent
	Created, Updated, Unchanged int
	Ignored                     []string // fields that the server does not know, at most 10
}

// ApplyWebsites creates the websites that are missing and updates the others, matched by the domain of their URL (the oldest of
// several): all or nothing. The same again changes nothing. A dry run answers the same and writes nothing.
func (c *Client) ApplyWebsites(ctx context.Context, sites []WebsiteFields, dryRun bool) (Applied, error) {
	if sites == nil {
		sites = []WebsiteFields{}
	}
	return c.apply(ctx, sites, dryRun)
}

// ApplyWebsitesJSON does so with websites that are JSON already: objects with the fields of the API.
func (c *Client) ApplyWebsitesJSON(ctx context.Context, sites []json.RawMessage, dryRun bool) (Applied, error) {
	if sites == nil {
		sites = []json.RawMessage{}
	}
	return c.apply(ctx, sites, dryRun)
}

func (c *Client) apply(ctx context.Context, sites any, dryRun bool) (Applied, error) {
	q := call{area: Analytics, method: http.MethodPut, path: "/api/v1/bulk/websites", body: sites}
	if dryRun {
		q.query = url.Values{"dry_run": {"1"}}
	}
	var body struct {
		Data                        []Website
		Created, Updated, Unchanged int
	}
	header, err := c.do(ctx, q, &body)
	if err != nil {
		return Applied{}, err
	}
	applied := Applied{body.Data, body.Created, body.Updated, body.Unchanged, nil}
	if names := header.Get("X-Ignored-Fields"); names != "" {
		applied.Ignored = strings.Split(names, ", ")
	}
	return applied, nil
}
