// Package analyticsapi is the operations of the analytics area.
package analyticsapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/web/apikit"
)

// An API serves the area.
type API struct {
	Websites analytics.Websites
	Base     string // the area's base URL
	Now      func() time.Time
}

// Routes lists the operations, the documented ones first.
func (a *API) Routes() []apikit.Route {
	return []apikit.Route{
		{Method: "GET", Path: "/api/v1/websites", Scope: account.AnalyticsRead, Query: apikit.ListQuery, Serve: a.list},
		{Method: "GET", Path: "/api/v1/websites/{id}", Scope: account.AnalyticsRead, Serve: a.read},
		{Method: "POST", Path: "/api/v1/websites", Scope: account.AnalyticsWrite, Body: websiteFields, Serve: a.create},
		{Method: "PUT", Path: "/api/v1/websites/{id}", Scope: account.AnalyticsWrite, Body: websiteFields, Serve: a.update},
		{Method: "DELETE", Path: "/websites/{id}/destroy", Scope: account.AnalyticsWrite, Serve: a.delete},
		{Method: "PATCH", Path: "/api/v1/websites/{id}", Scope: account.AnalyticsWrite, Body: websiteFields, Serve: a.update},
		{Method: "DELETE", Path: "/api/v1/websites/{id}", Scope: account.AnalyticsWrite, Serve: a.delete},
	}
}

var websiteList = apikit.List{
	SearchBy:     []string{analytics.SearchByURL, analytics.SearchByDomain},
	SortBy:       []string{analytics.SortByURL, analytics.SortByCreated},
	Aliases:      map[string]string{"domain": analytics.SortByURL, "id": analytics.SortByCreated},
	PerPage:      tenToHundred(),
	PerPageWords: "must be an integer from 10 to 100",
}

func tenToHundred() []int {
	sizes := make([]int, 91)
	for i := range sizes {
		sizes[i] = 10 + i
	}
	return sizes
}

func (a *API) list(w http.ResponseWriter, r *http.Request) error {
	request, err := websiteList.Request(r)
	if err != nil {
		return err
	}
	page, err := a.Websites.Websites(r.Context(), apikit.Account(r), request)
	if err != nil {
		return err
	}
	return apikit.WriteList(w, r, a.Base, request, page, toJSON)
}

func (a *API) find(r *http.Request) (analytics.Website, error) {
	id, err := apikit.ID(r, "id")
	if err != nil {
		return analytics.Website{}, err
	}
	return a.Websites.Website(r.Context(), apikit.Account(r), id)
}

func (a *API) read(w http.ResponseWriter, r *http.Request) error {
	site, err := a.find(r)
	if err != nil {
		return err
	}
	return apikit.WriteRecord(w, http.StatusOK, toJSON(site))
}

func (a *API) create(w http.ResponseWriter, r *http.Request) error {
	site := analytics.NewWebsite(apikit.Account(r), a.Now())
	edit, err := change(r.Context(), apikit.CallOf(r).Body)
	if err != nil {
		return err
	}
	if err := site.Apply(edit); err != nil {
		return err
	}
	if err := a.nameTwin(w, r, site); err != nil {
		return err
	}
	if err := a.Websites.CreateWebsite(r.Context(), &site); err != nil {
		return err
	}
	w.Header().Set("Location", a.Base+"/api/v1/websites/"+strconv.FormatInt(site.ID, 10))
	return apikit.WriteRecord(w, http.StatusCreated, toJSON(site))
}

// update serves PUT and PATCH. Fields that are not sent keep their value.
func (a *API) update(w http.ResponseWriter, r *http.Request) error {
	before, err := a.find(r)
	if err != nil {
		return err
	}
	edit, err := change(r.Context(), apikit.CallOf(r).Body)
	if err != nil {
		return err
	}
	if moved := before; moved.Apply(edit) == nil && moved.Domain != before.Domain {
		if err := a.nameTwin(w, r, moved); err != nil {
			return err
		}
	}
	site, err := a.Websites.UpdateWebsite(r.Context(), before.AccountID, before.ID, func(site *analytics.Website) error {
		return site.Edit(a.Now(), edit)
	})
	if err != nil {
		return err
	}
	return apikit.WriteRecord(w, http.StatusOK, toJSON(site))
}

// nameTwin names the oldest website with the domain of one that is about to get it in a header. It comes before the write,
// so that what was written is always answered.
func (a *API) nameTwin(w http.ResponseWriter, r *http.Request, site analytics.Website) error {
	oldest, err := a.Websites.OldestWebsite(r.Context(), site.AccountID, site.Domain)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	w.Header().Set("X-Same-Domain", strconv.FormatInt(oldest, 10))
	return nil
}

func (a *API) delete(w http.ResponseWriter, r *http.Request) error {
	id, err := apikit.ID(r, "id")
	if err != nil {
		return err
	}
	if err := a.Websites.DeleteWebsite(r.Context(), apikit.Account(r), id); err != nil {
		return err
	}
	return apikit.Write(w, http.StatusOK, apikit.Deleted{ID: id, Object: "website", Deleted: true, Status: http.StatusOK})
}

// websiteFields are the fields that a caller can set.
var websiteFields = []string{"url", "privacy", "password", "email", "exclude_bots", "exclude_params", "exclude_ips", "domain"}

// change is the change of a website that a body asks for. The password is hashed here, before any transaction.
func change(ctx context.Context, body apikit.Fields) (func(*analytics.Website) error, error) {
	var edits []func(*analytics.Website)
	edit := func(e func(*analytics.Website)) { edits = append(edits, e) }

	if address, sent := addressOf(body); sent {
		var parsed analytics.Website
		if err := parsed.SetURL(address); err != nil {
			body.Merge(err)
		}
		edit(func(w *analytics.Website) { w.URL, w.Domain = parsed.URL, parsed.Domain })
	}
	if value, sent := body.Choice("privacy", []string{"0", "1", "2"}, "must be 0 (public), 1 (private) or 2 (password)"); sent {
		edit(func(w *analytics.Website) { w.Privacy = analytics.Privacy(value[0] - '0') })
	}
	if value, sent := switched(body, "email"); sent {
		edit(func(w *analytics.Website) { w.Email = value })
	}
	if value, sent := switched(body, "exclude_bots"); sent {
		edit(func(w *analytics.Website) { w.ExcludeBots = value })
	}
	if body.Has("exclude_params") {
		text := listOf(body, "exclude_params")
		edit(func(w *analytics.Website) { w.ExcludeParams = text })
	}
	if body.Has("exclude_ips") {
		text := listOf(body, "exclude_ips")
		edit(func(w *analytics.Website) { w.ExcludeIPs = text })
	}
	if password := body.Text("password"); password != "" {
		hash := "not hashed: the request is refused"
		if body.Merge(analytics.CheckPassword(password)) == nil {
			var err error
			if hash, err = analytics.HashPassword(ctx, password); err != nil {
				return nil, err
			}
		}
		edit(func(w *analytics.Website) { w.PasswordHash = hash })
	} else if body.Null("password") {
		edit(func(w *analytics.Website) { w.PasswordHash = "" })
	}
	return func(w *analytics.Website) error {
		for _, e := range edits {
			e(w)
		}
		return body.Bad.OrNil()
	}, nil
}

// addressOf is the field url or, when that is not sent, domain.
func addressOf(body apikit.Fields) (string, bool) {
	address, domain := body.Text("url"), body.Text("domain")
	if body.Has("url") {
		return address, true
	}
	return domain, body.Has("domain")
}

// listOf is a list as it was sent, trimmed; one that holds nothing but separators is empty.
func listOf(body apikit.Fields, name string) string {
	text := body.Lines(name)
	if strings.Trim(text, " ,;\r\n") == "" {
		return ""
	}
	return strings.TrimSpace(text)
}

func switched(body apikit.Fields, name string) (on, sent bool) {
	value, sent := body.Choice(name, []string{"0", "1"}, "must be 0 or 1")
	return value == "1", sent
}

// websiteJSON is a website as answers show it.
type websiteJSON struct {
	ID            int64   `json:"id"`
	URL           string  `json:"url"`
	Domain        string  `json:"domain"`
	Privacy       int     `json:"privacy"`
	HasPassword   int     `json:"has_password"`
	Email         int     `json:"email"`
	ExcludeBots   int     `json:"exclude_bots"`
	ExcludeParams *string `json:"exclude_params"`
	ExcludeIPs    *string `json:"exclude_ips"`
	TrackingID    string  `json:"tracking_id"`
	CreatedAt     *string `json:"created_at"`
	UpdatedAt     *string `json:"updated_at"`
}

func toJSON(w analytics.Website) websiteJSON {
	return websiteJSON{ID: w.ID, URL: w.URL, Domain: w.Domain, Privacy: int(w.Privacy), HasPassword: number(w.PasswordHash != ""),
		Email: number(w.Email), ExcludeBots: number(w.ExcludeBots), ExcludeParams: orNull(w.ExcludeParams), ExcludeIPs: orNull(w.ExcludeIPs),
		TrackingID: w.TrackingID, CreatedAt: apikit.Time(w.CreatedAt), UpdatedAt: apikit.Time(w.UpdatedAt)}
}

func number(on bool) int {
	if on {
		return 1
	}
	return 0
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
