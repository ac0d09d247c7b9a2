// Package seoapi is the operations of the search-optimization area.
package seoapi

import (
	"net/http"
	"net/url"
	"time"

	"sightline/internal/account"
	"sightline/internal/seo"
	"sightline/internal/web/apikit"
)

// An API serves the area.
type API struct {
	Projects seo.Projects
	Base     string // the area's base URL
	Now      func() time.Time
}

// Routes lists the operations, the documented ones first.
func (a *API) Routes() []apikit.Route {
	return []apikit.Route{
		{Method: "GET", Path: "/api/v1/projects", Scope: account.SEORead, Query: apikit.ListQuery, Serve: a.list},
		{Method: "DELETE", Path: "/api/v1/projects/{project}", Scope: account.SEOWrite, Serve: a.delete},
		{Method: "GET", Path: "/api/v1/projects/{project}", Scope: account.SEORead, Serve: a.read},
		{Method: "POST", Path: "/api/v1/projects", Scope: account.SEOWrite, Body: []string{"project", "url"}, Serve: a.create},
	}
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
	return apikit.WriteRecord(w, http.StatusOK, toJSON(project))
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
	if err := a.Projects.CreateProject(r.Context(), &project); err != nil {
		return err
	}
	w.Header().Set("Location", a.Base+"/api/v1/projects/"+url.PathEscape(project.Name))
	return apikit.WriteRecord(w, http.StatusCreated, toJSON(project))
}

func (a *API) delete(w http.ResponseWriter, r *http.Request) error {
	ref, err := seo.ParseRef(r.PathValue("project"))
	if err != nil {
		return err
	}
	project, err := a.Projects.DeleteProject(r.Context(), apikit.Account(r), ref)
	if err != nil {
		return err
	}
	return apikit.Write(w, http.StatusOK, apikit.Deleted{ID: project.ID, Project: project.Name, Object: "project", Deleted: true, Status: http.StatusOK})
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
