package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"time"
)

// Privacy says who may open the stats pages of a website.
type Privacy int

// The privacies.
const (
	Public   Privacy = 0
	Private  Privacy = 1
	Password Privacy = 2 // whoever knows the website's password
)

// A flag is a bool that the API writes as 1 or 0.
type flag bool

// MarshalJSON implements json.Marshaler.
func (f flag) MarshalJSON() ([]byte, error) {
	if f {
		return []byte("1"), nil
	}
	return []byte("0"), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *flag) UnmarshalJSON(data []byte) error {
	if text := string(data); text != "0" && text != "1" {
		return fmt.Errorf("%s is neither 0 nor 1", text)
	}
	*f = data[0] == '1'
	return nil
}

// A Website is a site whose visits are counted.
type Website struct {
	ID            int64     `json:"id"` // 0: it would be created by a bulk change that was only tried
	URL           string    `json:"url"`
	Domain        string    `json:"domain"`
	Privacy       Privacy   `json:"privacy"`
	HasPassword   bool      `json:"-"`
	Email         bool      `json:"-"` // whether its owner gets periodic e-mail reports
	ExcludeBots   bool      `json:"-"`
	ExcludeParams string    `json:"exclude_params"` // query parameters left out of stored pages
	ExcludeIPs    string    `json:"exclude_ips"`    // addresses whose visits are not counted
	TrackingID    string    `json:"tracking_id"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`

	ETag       string          `json:"-"` // of this version, for IfMatch; empty in lists
	SameDomain int64           `json:"-"` // the oldest website that has the domain which this one just got; 0: none
	Raw        json.RawMessage `json:"-"` // the record as the server sent it
}

// UnmarshalJSON implements json.Unmarshaler.
func (w *Website) UnmarshalJSON(data []byte) error {
	type plain Website
	if err := json.Unmarshal(data, (*plain)(w)); err != nil {
		return err
	}
	w.Raw = bytes.Clone(data)
	return json.Unmarshal(data, &struct {
		HasPassword *flag `json:"has_password"`
		Email       *flag `json:"email"`
		ExcludeBots *flag `json:"exclude_bots"`
	}{(*flag)(&w.HasPassword), (*flag)(&w.Email), (*flag)(&w.ExcludeBots)})
}

// WebsiteFields are the fields to create a website with, or to change in one. What is nil is left alone, or to the server's
// defaults. new(true) and the like make pointers.
type WebsiteFields struct {
	URL            *string // needed to create one
	Privacy        *Privacy
	Password       *string // 1 to 128 characters; kept as a hash
	RemovePassword bool    // instead of Password
	Email          *bool
	ExcludeBots    *bool
	ExcludeParams  *string // separated by line breaks, commas, semicolons or spaces; empty clears
	ExcludeIPs     *string // likewise
}

// MarshalJSON writes the fields that are set.
func (f WebsiteFields) MarshalJSON() ([]byte, error) {
	var password any
	if f.RemovePassword {
		password = json.RawMessage("null")
	} else if f.Password != nil {
		password = f.Password
	}
	return json.Marshal(struct {
		URL           *string  `json:"url,omitempty"`
		Privacy       *Privacy `json:"privacy,omitempty"`
		Password      any      `json:"password,omitempty"`
		Email         *flag    `json:"email,omitempty"`
		ExcludeBots   *flag    `json:"exclude_bots,omitempty"`
		ExcludeParams *string  `json:"exclude_params,omitempty"`
		ExcludeIPs    *string  `json:"exclude_ips,omitempty"`
	}{f.URL, f.Privacy, password, (*flag)(f.Email), (*flag)(f.ExcludeBots), f.ExcludeParams, f.ExcludeIPs})
}

const websites = "/api/v1/websites"

func websitePath(id int64) string { return websites + "/" + strconv.FormatInt(id, 10) }

// Websites lists one page of the websites.
func (c *Client) Websites(ctx context.Context, o ListOptions) (Page[Website], error) {
	return page[Website](ctx, c, Analytics, websites, o.values())
}

// AllWebsites lists the websites on all pages, from o.Page on. Websites that come or go meanwhile may be missed or
// repeated. An error ends it.
func (c *Client) AllWebsites(ctx context.Context, o ListOptions) iter.Seq2[Website, error] {
	return all(PageOptions{o.PerPage, o.Page}, func(p PageOptions) (Page[Website], error) {
		o.PerPage, o.Page = p.PerPage, p.Page
		return c.Websites(ctx, o)
	})
}

// Website reads one.
func (c *Client) Website(ctx context.Context, id int64) (Website, error) {
	return c.website(ctx, call{method: http.MethodGet, path: websitePath(id)})
}

// CreateWebsite registers a website. SameDomain of the result names an older one with the same domain.
func (c *Client) CreateWebsite(ctx context.Context, fields WebsiteFields) (Website, error) {
	return c.website(ctx, call{method: http.MethodPost, path: websites, body: fields})
}

// UpdateWebsite changes the fields that are set.
func (c *Client) UpdateWebsite(ctx context.Context, id int64, fields WebsiteFields, options ...WriteOption) (Website, error) {
	return c.website(ctx, call{method: http.MethodPut, path: websitePath(id), body: fields, options: options})
}

// RestoreWebsite brings a website back from the trash.
func (c *Client) RestoreWebsite(ctx context.Context, id int64) (Website, error) {
	return c.website(ctx, call{method: http.MethodPost, path: trashPath("website", id) + "/restore"})
}

// DeleteWebsite moves a website into the trash.
func (c *Client) DeleteWebsite(ctx context.Context, id int64, options ...WriteOption) (Deleted, error) {
	return c.delete(ctx, call{area: Analytics, path: "/websites/" + strconv.FormatInt(id, 10) + "/destroy", options: options})
}

// website makes a call that answers with one.
func (c *Client) website(ctx context.Context, q call) (Website, error) {
	q.area = Analytics
	var body struct{ Data Website }
	header, err := c.do(ctx, q, &body)
	if err == nil {
		body.Data.ETag = header.Get("ETag")
		body.Data.SameDomain, _ = strconv.ParseInt(header.Get("X-Same-Domain"), 10, 64) // 0 when it is not there
	}
	return body.Data, err
}
