// Package seoapi is the operations of the search-optimization area.
package seoapi

import (
	"net/http"
	"net/url"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/seo"
	"sightline/internal/trash"
	"sightline/internal/web/apikit"
)

// An API serves the area.
type API struct {
	Projects seo.Projects
	Reports  seo.Reports
	Results  seo.Results
	Websites analytics.Websites // whose hosts are the account's own
	Trash    trash.Trash
	Kept     time.Duration // how long deleted projects stay in the trash; 0: they are erased at once
	Base     string        // the area's base URL
	Now      func() time.Time
	Wake     func()      // tells whoever makes audits that one waits
	Ending   func() bool // the server is about to stop: nobody should be kept waiting
}

var (
	read  = []account.Scope{account.SEORead}
	write = []account.Scope{account.SEOWrite}
)

// Routes lists the operations, the documented ones first.
func (a *API) Routes() []apikit.Route {
	return append([]apikit.Route{
		{Method: "GET", Path: "/api/v1/projects", Scopes: read, Query: apikit.ListQuery, Serve: a.list},
		{Method: "DELETE", Path: "/api/v1/projects/{project}", Scopes: write, Serve: a.delete},
		{Method: "GET", Path: "/api/v1/projects/{project}", Scopes: read, Serve: a.read},
		{Method: "POST", Path: "/api/v1/projects", Scopes: write, Body: []string{"project", "url"}, Serve: a.create},
		{Method: "POST", Path: "/api/v1/trash/project/{id}/restore", Scopes: write, Serve: a.restore},
		{Method: "DELETE", Path: "/api/v1/trash/project/{id}", Scopes: write, Serve: a.purge},
	}, a.reportRoutes()...)
}

var projectList = apikit.List{
	SearchBy:     []string{seo.SearchByProject},
	SortBy:       []string{seo.SortByCreated, seo.SortByProject},
	Desc:         true,
	PerPage:      []int{10, 25, 50, 100},
	PerPageWords: "must be one of 10, 25, 50, 100",
}

func (a *API) list(w http.ResponseWriter, r *http.Request) error {
	request, err := projectList.Request(r)
	if err != nil {
		return err
	}
	page, err := a.Projects.Projects(r.Context(), apikit.Account(r), request)
	if err != nil {
		return err
	}
	return apikit.WriteList(w, r, a.Base, request, page, toJSON)
}

func (a *API) read(w http.ResponseWriter, r *http.Request) error {
	ref, err := seo.ParseRef(r.PathValue("project"))
	if err != nil {
		return err
	}
	project, err := a.Projects.Project(r.Context(), apikit.Account(r), ref)
	if err != nil {
		return err
	}
	return found(project).Write(w, r)
}

// found is the answer that carries a project.
func found(p seo.Project) apikit.Answer {
	return apikit.Record(http.StatusOK, apikit.Tag(p.ID, p.Version), toJSON(p))
}

// create takes a name in project or, when that is not sent, an address in url.
func (a *API) create(w http.ResponseWriter, r *http.Request) error {
	body := apikit.CallOf(r).Body
	project := seo.NewProject(apikit.Account(r), a.Now())
	name, address := body.Text("project"), body.Text("url")
	var err error
	if name == "" && address != "" {
		err = project.SetURL(address)
	} else {
		err = project.SetName(name)
	}
	if err := body.Merge(err); err != nil {
		return err
	}
	answer := func() apikit.Answer {
		return apikit.Created(a.Base+"/api/v1/projects/"+url.PathEscape(project.Name), apikit.Tag(project.ID, project.Version), toJSON(project))
	}
	if err := a.Projects.CreateProject(r.Context(), &project, apikit.Receipt(r, answer)); err != nil {
		return err
	}
	return answer().Write(w, r)
}

func (a *API) delete(w http.ResponseWriter, r *http.Request) error {
	ref, err := seo.ParseRef(r.PathValue("project"))
	if err != nil {
		return err
	}
	how := trash.Deletion{}
	if a.Kept > 0 {
		how.At = a.Now().UTC().Truncate(time.Second)
	}
	if len(r.Header.Values("If-Match")) > 0 {
		tagged, err := a.Projects.Project(r.Context(), apikit.Account(r), ref)
		if err != nil {
			return err
		}
		ref = seo.Ref{ID: tagged.ID}
		how.Check = apikit.SameVersion(r, tagged.ID)
	}
	project, err := a.Projects.DeleteProject(r.Context(), apikit.Account(r), ref, how)
	if err != nil {
		return err
	}
	return deleted(w, project.ID, project.Name)
}

func deleted(w http.ResponseWriter, id int64, name string) error {
	return apikit.Write(w, http.StatusOK, apikit.Deleted{ID: id, Project: name, Object: string(trash.Project), Deleted: true, Status: http.StatusOK})
}

// restore brings a project back from the trash.
func (a *API) restore(w http.ResponseWriter, r *http.Request) error {
	id, err := apikit.ID(r, "id")
	if err != nil {
		return err
	}
	var project seo.Project
	answer := func() apikit.Answer { return found(project) }
	if err := a.Projects.RestoreProject(r.Context(), apikit.Account(r), id, &project, apikit.Receipt(r, answer)); err != nil {
		return err
	}
	return answer().Write(w, r)
}

// purge erases a project in the trash for good.
func (a *API) purge(w http.ResponseWriter, r *http.Request) error {
	id, err := apikit.ID(r, "id")
	if err != nil {
		return err
	}
	item, err := a.Trash.Purge(r.Context(), apikit.Account(r), trash.Project, id, apikit.SameVersion(r, id))
	if err != nil {
		return err
	}
	return deleted(w, id, item.Name)
}

// projectJSON is a project as answers show it.
type projectJSON struct {
	ID           int64   `json:"id"`
	Project      string  `json:"project"`
	CreatedAt    *string `json:"created_at"`
	UpdatedAt    *string `json:"updated_at"`
	Reports      int     `json:"reports"`
	Score        *int    `json:"score"`
	Result       *string `json:"result"`
	LastReportAt *string `json:"last_report_at"`
}

func toJSON(p seo.Project) projectJSON {
	out := projectJSON{ID: p.ID, Project: p.Name, CreatedAt: apikit.Time(p.CreatedAt), UpdatedAt: apikit.Time(p.UpdatedAt),
		Reports: p.Reports, Score: p.Score, LastReportAt: apikit.Time(p.LastReportAt)}
	if result := p.Result(); result != "" {
		out.Result = &result
	}
	return out
}
