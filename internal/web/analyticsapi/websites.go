// Package analyticsapi is the operations of the analytics area.
package analyticsapi

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/trash"
	"sightline/internal/web/apikit"
)

// An API serves the area.
type API struct {
	Accounts account.Accounts
	Websites analytics.Websites
	Bulk     analytics.BulkWebsites
	Events   Store // nil: this server keeps none
	Trash    trash.Trash
	Kept     time.Duration // how long deleted websites stay in the trash; 0: they are erased at once
	Base     string        // the area's base URL
	Now      func() time.Time

	importing chan struct{} // holds one for each import that is under way
	storing   sync.Mutex    // held while an import finds out what is new and stores that
}

var (
	read  = []account.Scope{account.AnalyticsRead}
	write = []account.Scope{account.AnalyticsWrite}
	owner = []account.Scope{account.AccountWrite}
)

// Routes lists the operations, the documented ones first.
func (a *API) Routes() []apikit.Route {
	a.importing = make(chan struct{}, maxImports)
	return []apikit.Route{
		{Method: "GET", Path: "/api/v1/websites", Scopes: read, Query: apikit.ListQuery, Serve: a.list},
		{Method: "GET", Path: "/api/v1/websites/{id}", Scopes: read, Serve: a.read},
		{Method: "POST", Path: "/api/v1/websites", Scopes: write, Body: websiteFields, Serve: a.create},
		{Method: "PUT", Path: "/api/v1/websites/{id}", Scopes: write, Body: websiteFields, Serve: a.update},
		{Method: "DELETE", Path: "/websites/{id}/destroy", Scopes: write, Serve: a.delete},
		{Method: "PATCH", Path: "/api/v1/websites/{id}", Scopes: write, Body: websiteFields, Serve: a.update},
		{Method: "DELETE", Path: "/api/v1/websites/{id}", Scopes: write, Serve: a.delete},
		{Method: "PUT", Path: "/api/v1/bulk/websites", Scopes: write, Query: []string{"dry_run"}, Body: websiteFields, Many: true, Serve: a.apply},
		{Method: "POST", Path: "/api/v1/trash/website/{id}/restore", Scopes: write, Serve: a.restore},
		{Method: "DELETE", Path: "/api/v1/trash/website/{id}", Scopes: write, Serve: a.purge},
		{Method: "GET", Path: "/api/v1/websites/{id}/stats", Scopes: read, Query: statsQuery, Repeat: []string{"filter"}, Serve: a.stats},
		{Method: "GET", Path: "/api/v1/stats/{id}", Scopes: read, Query: classicQuery, Serve: a.classic},
		{Method: "GET", Path: "/api/v1/websites/{id}/realtime", Scopes: read, Serve: a.realtime},
		{Method: "GET", Path: "/api/v1/websites/{id}/exclusions", Scopes: read, Query: []string{"from", "to"}, Serve: a.exclusions},
		{Method: "GET", Path: "/api/v1/websites/{id}/export", Scopes: read, Query: exportQuery, File: true, Time: exportTime, Serve: a.export},
		{Method: "POST", Path: "/api/v1/websites/{id}/import", Scopes: write, Body: lineFields(), Lines: true, Time: importTime, Serve: a.importEvents},
		{Method: "POST", Path: "/api/v1/events/compact", Scopes: owner, Time: compactTime, Serve: a.compact},
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
	return found(site).Write(w, r)
}

// found is the answer that carries a website.
func found(w analytics.Website) apikit.Answer {
	return apikit.Record(http.StatusOK, apikit.Tag(w.ID, w.Version), toJSON(w))
}

func (a *API) create(w http.ResponseWriter, r *http.Request) error {
	site := analytics.NewWebsite(apikit.Account(r), a.Now())
	edit, err := change(r.Context(), apikit.CallOf(r).Body, "")
	if err != nil {
		return err
	}
	if err := site.Apply(edit); err != nil {
		return err
	}
	twin, err := a.twin(r, site)
	if err != nil {
		return err
	}
	answer := func() apikit.Answer {
		return beside(twin, apikit.Created(a.Base+"/api/v1/websites/"+strconv.FormatInt(site.ID, 10), apikit.Tag(site.ID, site.Version), toJSON(site)))
	}
	if err := a.Websites.CreateWebsite(r.Context(), &site, apikit.Receipt(r, answer)); err != nil {
		return err
	}
	return answer().Write(w, r)
}

// update serves PUT and PATCH. Fields that are not sent keep their value.
func (a *API) update(w http.ResponseWriter, r *http.Request) error {
	before, err := a.find(r)
	if err != nil {
		return err
	}
	if err := apikit.CheckMatch(r, apikit.Tag(before.ID, before.Version)); err != nil {
		return err
	}
	edit, err := change(r.Context(), apikit.CallOf(r).Body, before.PasswordHash)
	if err != nil {
		return err
	}
	var twin int64
	if moved := before; moved.Apply(edit) == nil && moved.Domain != before.Domain {
		if twin, err = a.twin(r, moved); err != nil {
			return err
		}
	}
	site, err := a.Websites.UpdateWebsite(r.Context(), before.AccountID, before.ID, func(site *analytics.Website) error {
		if err := apikit.CheckMatch(r, apikit.Tag(site.ID, site.Version)); err != nil {
			return err
		}
		return site.Edit(a.Now(), edit)
	})
	if err != nil {
		return err
	}
	return beside(twin, found(site)).Write(w, r)
}

// twin is the id of the oldest website with the domain of one that is about to get it; 0: there is none. It is looked for
// before the write, so that what was written is always answered.
func (a *API) twin(r *http.Request, site analytics.Website) (int64, error) {
	oldest, err := a.Websites.OldestWebsite(r.Context(), site.AccountID, site.Domain)
	if errors.Is(err, fault.NotFound) {
		return 0, nil
	}
	return oldest, err
}

// beside names the twin of a website in a header of an answer.
func beside(twin int64, answer apikit.Answer) apikit.Answer {
	if twin != 0 {
		answer.Header["X-Same-Domain"] = strconv.FormatInt(twin, 10)
	}
	return answer
}

func (a *API) delete(w http.ResponseWriter, r *http.Request) error {
	id, err := apikit.ID(r, "id")
	if err != nil {
		return err
	}
	how := trash.Deletion{Check: apikit.SameVersion(r, id)}
	if a.Kept > 0 {
		how.At = a.Now().UTC().Truncate(time.Second)
	}
	if err := a.Websites.DeleteWebsite(r.Context(), apikit.Account(r), id, how); err != nil {
		return err
	}
	return deleted(w, id)
}

func deleted(w http.ResponseWriter, id int64) error {
	return apikit.Write(w, http.StatusOK, apikit.Deleted{ID: id, Object: string(trash.Website), Deleted: true, Status: http.StatusOK})
}

// restore brings a website back from the trash.
func (a *API) restore(w http.ResponseWriter, r *http.Request) error {
	id, err := apikit.ID(r, "id")
	if err != nil {
		return err
	}
	var site analytics.Website
	answer := func() apikit.Answer { return found(site) }
	if err := a.Websites.RestoreWebsite(r.Context(), apikit.Account(r), id, &site, apikit.Receipt(r, answer)); err != nil {
		return err
	}
	return answer().Write(w, r)
}

// purge erases a website in the trash for good.
func (a *API) purge(w http.ResponseWriter, r *http.Request) error {
	id, err := apikit.ID(r, "id")
	if err != nil {
		return err
	}
	if _, err := a.Trash.Purge(r.Context(), apikit.Account(r), trash.Website, id, apikit.SameVersion(r, id)); err != nil {
		return err
	}
	return deleted(w, id)
}

// websiteJSON is a website as answers show it.
type websiteJSON struct {
	ID            *int64  `json:"id"` // null for one that a dry run would create
	URL           string  `json:"url"`
	Domain        string  `json:"domain"`
	Privacy       int     `json:"privacy"`
	HasPassword   int     `json:"has_password"`
	Email         int     `json:"email"`
	ExcludeBots   int     `json:"exclude_bots"`
	ExcludeParams *string `json:"exclude_params"`
	ExcludeIPs    *string `json:"exclude_ips"`
	TrackingID    *string `json:"tracking_id"`
	CreatedAt     *string `json:"created_at"`
	UpdatedAt     *string `json:"updated_at"`
}

func toJSON(w analytics.Website) websiteJSON {
	return websiteJSON{ID: &w.ID, URL: w.URL, Domain: w.Domain, Privacy: int(w.Privacy), HasPassword: apikit.Flag(w.PasswordHash != ""),
		Email: apikit.Flag(w.Email), ExcludeBots: apikit.Flag(w.ExcludeBots), ExcludeParams: orNull(w.ExcludeParams), ExcludeIPs: orNull(w.ExcludeIPs),
		TrackingID: &w.TrackingID, CreatedAt: apikit.Time(w.CreatedAt), UpdatedAt: apikit.Time(w.UpdatedAt)}
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
