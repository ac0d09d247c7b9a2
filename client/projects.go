package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A Project is one site under audit, or a group with any other name.
type Project struct {
	ID           int64     `json:"id"`
	Project      string    `json:"project"` // its name
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
	Reports      int       `json:"reports"`
	Score        *int      `json:"score"`          // 0 to 100; nil: no report yet
	Result       string    `json:"result"`         // good, decent or bad; empty: no report yet
	LastReportAt time.Time `json:"last_report_at"` // zero: no report yet

	ETag string          `json:"-"` // of this version, for IfMatch; empty in lists
	Raw  json.RawMessage `json:"-"` // the record as the server sent it
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Project) UnmarshalJSON(data []byte) error {
	type plain Project
	p.Raw = bytes.Clone(data)
	return json.Unmarshal(data, (*plain)(p))
}

const projects = "/api/v1/projects"

var errNoName = errors.New("client: the project needs a name or an id")

// projectPath escapes a name so that it arrives as it is.
func projectPath(nameOrID string) (string, error) {
	if strings.TrimSpace(nameOrID) == "" { // it would be the path of the list
		return "", errNoName
	}
	return projects + "/" + url.PathEscape(nameOrID), nil
}

// Projects lists one page of the projects.
func (c *Client) Projects(ctx context.Context, o ListOptions) (Page[Project], error) {
	return page[Project](ctx, c, SEO, projects, o.values())
}

// AllProjects lists the projects on all pages, from o.Page on. Projects that come or go meanwhile may be missed or
// repeated. An error ends it.
func (c *Client) AllProjects(ctx context.Context, o ListOptions) iter.Seq2[Project, error] {
	return all(PageOptions{o.PerPage, o.Page}, func(p PageOptions) (Page[Project], error) {
		o.PerPage, o.Page = p.PerPage, p.Page
		return c.Projects(ctx, o)
	})
}

// Project reads one, by its name or, all digits, its id.
func (c *Client) Project(ctx context.Context, nameOrID string) (Project, error) {
	path, err := projectPath(nameOrID)
	if err != nil {
		return Project{}, err
	}
	return c.project(ctx, call{method: http.MethodGet, path: path})
}

// CreateProject makes a project with a name: a host, or any other that is not all digits.
func (c *Client) CreateProject(ctx context.Context, name string) (Project, error) {
	return c.project(ctx, call{method: http.MethodPost, path: projects, body: map[string]string{"project": name}})
}

// CreateProjectOf makes a project named after the host of an address.
func (c *Client) CreateProjectOf(ctx context.Context, address string) (Project, error) {
	return c.project(ctx, call{method: http.MethodPost, path: projects, body: map[string]string{"url": address}})
}

// RestoreProject brings a project back from the trash.
func (c *Client) RestoreProject(ctx context.Context, id int64) (Project, error) {
	return c.project(ctx, call{method: http.MethodPost, path: trashPath("project", id) + "/restore"})
}

// DeleteProject moves a project with its reports into the trash, by its name or, all digits, its id.
func (c *Client) DeleteProject(ctx context.Context, nameOrID string, options ...WriteOption) (Deleted, error) {
	path, err := projectPath(nameOrID)
	if err != nil {
		return Deleted{}, err
	}
	return c.delete(ctx, call{area: SEO, path: path, options: options})
}

// project makes a call that answers with one.
func (c *Client) project(ctx context.Context, q call) (Project, error) {
	q.area = SEO
	var body struct{ Data Project }
	header, err := c.do(ctx, q, &body)
	if err == nil {
		body.Data.ETag = header.Get("ETag")
	}
	return body.Data, err
}
