package client

import (
	"context"
	"iter"
	"net/http"
	"strconv"
	"time"
)

// Deleted says what was deleted.
type Deleted struct {
	ID      int64  `json:"id"`
	Project string `json:"project,omitempty"` // the name, when it was a project
	Object  string `json:"object"`            // website, project, report or key
	Deleted bool   `json:"deleted"`
}

// delete makes a call that deletes something.
func (c *Client) delete(ctx context.Context, q call) (Deleted, error) {
	q.method = http.MethodDelete
	var gone Deleted
	_, err := c.do(ctx, q, &gone)
	return gone, err
}

// Trashed is a deleted record that can be restored until PurgeAt.
type Trashed struct {
	Object    string    `json:"object"` // website, project or report
	ID        int64     `json:"id"`
	URL       string    `json:"url,omitempty"`     // of a website or a report
	Project   string    `json:"project,omitempty"` // the name of a project
	DeletedAt time.Time `json:"deleted_at"`
	PurgeAt   time.Time `json:"purge_at"`
}

const trash = "/api/v1/trash"

func trashPath(object string, id int64) string {
	return trash + "/" + object + "/" + strconv.FormatInt(id, 10)
}

// Trash lists one page of what was deleted in an area, newest first. Where both areas share an address it lists both.
func (c *Client) Trash(ctx context.Context, area Area, o PageOptions) (Page[Trashed], error) {
	return page[Trashed](ctx, c, area, trash, o.values())
}

// AllTrash lists all pages, from o.Page on. An error ends it.
func (c *Client) AllTrash(ctx context.Context, area Area, o PageOptions) iter.Seq2[Trashed, error] {
	return all(o, func(p PageOptions) (Page[Trashed], error) { return c.Trash(ctx, area, p) })
}

// PurgeWebsite erases a website in the trash for good.
func (c *Client) PurgeWebsite(ctx context.Context, id int64) (Deleted, error) {
	return c.delete(ctx, call{area: Analytics, path: trashPath("website", id)})
}

// PurgeProject erases a project in the trash for good.
func (c *Client) PurgeProject(ctx context.Context, id int64) (Deleted, error) {
	return c.delete(ctx, call{area: SEO, path: trashPath("project", id)})
}
