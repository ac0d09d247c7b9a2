package client

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strconv"
	"time"
)

// An Account owns websites, projects and reports.
type Account struct {
	ID        int64     `json:"id"`
	Email     string    `json:"email"`
	Name      string    `json:"name"`
	Timezone  string    `json:"timezone"`
	CreatedAt time.Time `json:"created_at"`
	Key       Key       `json:"key"` // the one that calls: its ID, Name, Scopes and ExpiresAt
}

// A Key lets a program act for the account.
type Key struct {
	ID         int64     `json:"id"`
	Name       string    `json:"name"`
	Scopes     []string  `json:"scopes"`
	CreatedAt  time.Time `json:"created_at"`
	LastUsedAt time.Time `json:"last_used_at"` // zero: never
	ExpiresAt  time.Time `json:"expires_at"`   // zero: does not expire
	Secret     string    `json:"key"`          // the key itself, in the answer to CreateKey only
}

// NewKey is what CreateKey takes.
type NewKey struct {
	Name      string    `json:"name"`
	Scopes    []string  `json:"scopes,omitempty"`    // none: those of the calling key
	ExpiresAt time.Time `json:"expires_at,omitzero"` // zero: does not expire
}

// ErrSecretLost says that a key was made but the answer with its secret did not arrive: revoke it and make another.
var ErrSecretLost = errors.New("the key was made, but its secret was lost on the way: revoke it and make another")

// Account reads who calls.
func (c *Client) Account(ctx context.Context) (Account, error) {
	var body struct{ Data Account }
	_, err := c.do(ctx, call{area: c.anyArea(), method: http.MethodGet, path: "/api/v1/account"}, &body)
	return body.Data, err
}

const keys = "/api/v1/keys"

// Keys lists one page of the account's keys that are not revoked, oldest first.
func (c *Client) Keys(ctx context.Context, o PageOptions) (Page[Key], error) {
	return page[Key](ctx, c, c.anyArea(), keys, o.values())
}

// AllKeys lists all pages, from o.Page on. An error ends it.
func (c *Client) AllKeys(ctx context.Context, o PageOptions) iter.Seq2[Key, error] {
	return all(o, func(p PageOptions) (Page[Key], error) { return c.Keys(ctx, p) })
}

// CreateKey makes a key, and shows its secret this once. With ErrSecretLost it also returns the key, without the secret.
func (c *Client) CreateKey(ctx context.Context, key NewKey) (Key, error) {
	var body struct{ Data Key }
	_, err := c.do(ctx, call{area: c.anyArea(), method: http.MethodPost, path: keys, body: key}, &body)
	if err == nil && body.Data.Secret == "" {
		err = ErrSecretLost
	}
	return body.Data, err
}

// RevokeKey makes a key useless.
func (c *Client) RevokeKey(ctx context.Context, id int64) (Deleted, error) {
	return c.delete(ctx, call{area: c.anyArea(), path: keys + "/" + strconv.FormatInt(id, 10)})
}
