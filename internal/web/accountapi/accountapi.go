// Package accountapi is the operations on the account itself, the same in both areas: who calls, its keys, its trash.
package accountapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"sightline/internal/account"
	"sightline/internal/fault"
	"sightline/internal/trash"
	"sightline/internal/web/apikit"
)

// An API serves the operations.
type API struct {
	Accounts account.Accounts
	Keys     account.Keys
	Trash    trash.Trash
	Objects  []trash.Object // what can be in the trash of the area, or of both
	Kept     time.Duration  // how long it stays there
	Base     string         // the area's base URL
	Now      func() time.Time
}

// reads says which scope shows which part of the trash.
var reads = map[trash.Object]account.Scope{trash.Project: account.SEORead, trash.Report: account.SEORead, trash.Website: account.AnalyticsRead}

// Routes lists the operations.
func (a *API) Routes() []apikit.Route {
	owner := []account.Scope{account.AccountWrite}
	var readers []account.Scope
	for _, object := range a.Objects {
		if !slices.Contains(readers, reads[object]) {
			readers = append(readers, reads[object])
		}
	}
	paged := []string{"per_page", "page"}
	return []apikit.Route{
		{Method: "GET", Path: "/api/v1/account", Serve: a.account},
		{Method: "GET", Path: "/api/v1/keys", Scopes: owner, Query: paged, Serve: a.listKeys},
		{Method: "POST", Path: "/api/v1/keys", Scopes: owner, Body: []string{"name", "scopes", "expires_at"}, Serve: a.createKey},
		{Method: "DELETE", Path: "/api/v1/keys/{id}", Scopes: owner, Serve: a.revokeKey},
		{Method: "GET", Path: "/api/v1/trash", Scopes: readers, Query: paged, Serve: a.listTrash},
	}
}

// pages is how keys and the trash are listed.
var pages = apikit.List{SearchBy: []string{""}, SortBy: []string{""}, PerPage: []int{10, 25, 50, 100}, PerPageWords: "must be one of 10, 25, 50, 100"}

func (a *API) account(w http.ResponseWriter, r *http.Request) error {
	caller, err := a.Accounts.Account(r.Context(), apikit.Account(r))
	if err != nil {
		return err
	}
	type keyJSON struct {
		ID        int64          `json:"id"`
		Name      string         `json:"name"`
		Scopes    account.Scopes `json:"scopes"`
		ExpiresAt *string        `json:"expires_at"`
	}
	key := apikit.CallOf(r).Key
	data := struct {
		ID        int64   `json:"id"`
		Email     string  `json:"email"`
		Name      string  `json:"name"`
		Timezone  string  `json:"timezone"`
		CreatedAt *string `json:"created_at"`
		Key       keyJSON `json:"key"`
	}{caller.ID, caller.Email, caller.Name, caller.Timezone, apikit.Time(caller.CreatedAt),
		keyJSON{key.ID, key.Name, key.Scopes, apikit.Time(key.ExpiresAt)}}
	tag, err := apikit.ContentTag(caller.ID, data)
	if err != nil {
		return err
	}
	return apikit.Record(http.StatusOK, tag, data).Write(w, r)
}

func (a *API) listKeys(w http.ResponseWriter, r *http.Request) error {
	request, err := pages.Request(r)
	if err != nil {
		return err
	}
	page, err := a.Keys.Keys(r.Context(), apikit.Account(r), request)
	if err != nil {
		return err
	}
	return apikit.WriteList(w, r, a.Base, request, page, toJSON)
}

// createKey answers the secret once: neither a list nor a repeated request shows it again.
func (a *API) createKey(w http.ResponseWriter, r *http.Request) error {
	call := apikit.CallOf(r)
	key, err := newKey(call.Body, call.Key.Scopes, a.Now())
	if err != nil {
		return err
	}
	secret := account.NewSecret()
	key.AccountID, key.Hash = call.Key.AccountID, account.HashSecret(secret)
	answer := func(secret *string) apikit.Answer {
		data := toJSON(key)
		data.Key = secret
		return apikit.Created(a.Base+"/api/v1/keys/"+strconv.FormatInt(key.ID, 10), "", data)
	}
	repeated := apikit.Receipt(r, func() apikit.Answer { return answer(nil) })
	if err := a.Keys.CreateKey(r.Context(), &key, repeated); err != nil {
		return err
	}
	return answer(&secret).Write(w, r)
}

// newKey is the key that a body asks for. It cannot have a scope that the caller's key lacks.
func newKey(body apikit.Fields, own account.Scopes, now time.Time) (account.Key, error) {
	key := account.Key{Name: strings.TrimSpace(body.Text("name")), Scopes: own, CreatedAt: now.UTC().Truncate(time.Second)}
	if names, sent := body.List("scopes"); sent {
		scopes, err := account.NewScopes(names)
		body.Merge(err)
		for _, scope := range scopes {
			if !own.Allow(scope) {
				body.Merge(fault.Field("scopes", "must not include "+string(scope)+", which this API key lacks"))
			}
		}
		key.Scopes = scopes
	}
	if text := body.Text("expires_at"); text != "" {
		at, err := time.Parse(time.RFC3339, text)
		at = at.UTC().Truncate(time.Second)
		if err != nil || !at.After(key.CreatedAt) || at.Year() > 9999 {
			body.Merge(fault.Field("expires_at", "must be a time in the future such as 2027-01-31T00:00:00Z"))
		}
		key.ExpiresAt = at
	}
	return key, body.Merge(key.Check())
}

func (a *API) revokeKey(w http.ResponseWriter, r *http.Request) error {
	id, err := apikit.ID(r, "id")
	if err != nil {
		return err
	}
	if err := a.Keys.RevokeKey(r.Context(), apikit.Account(r), id, a.Now().UTC().Truncate(time.Second)); err != nil {
		return err
	}
	return apikit.Write(w, http.StatusOK, apikit.Deleted{ID: id, Object: "key", Deleted: true, Status: http.StatusOK})
}

// listTrash shows what the caller's key may read of it.
func (a *API) listTrash(w http.ResponseWriter, r *http.Request) error {
	request, err := pages.Request(r)
	if err != nil {
		return err
	}
	var objects []trash.Object
	for _, object := range a.Objects {
		if apikit.CallOf(r).Key.Scopes.Allow(reads[object]) {
			objects = append(objects, object)
		}
	}
	page, err := a.Trash.Trash(r.Context(), apikit.Account(r), objects, request)
	if err != nil {
		return err
	}
	return apikit.WriteList(w, r, a.Base, request, page, a.trashed)
}

// itemJSON is a record in the trash as answers show it.
type itemJSON struct {
	Object    trash.Object `json:"object"`
	ID        int64        `json:"id"`
	URL       string       `json:"url,omitempty"`     // of a website or a report
	Project   string       `json:"project,omitempty"` // the name of a project
	DeletedAt *string      `json:"deleted_at"`
	PurgeAt   *string      `json:"purge_at"`
}

func (a *API) trashed(item trash.Item) itemJSON {
	out := itemJSON{Object: item.Object, ID: item.ID, DeletedAt: apikit.Time(item.DeletedAt), PurgeAt: apikit.Time(item.DeletedAt.Add(a.Kept))}
	if item.Object == trash.Project {
		out.Project = item.Name
	} else {
		out.URL = item.Name
	}
	return out
}

// keyJSON is a key as answers show it.
type keyJSON struct {
	ID         int64          `json:"id"`
	Name       string         `json:"name"`
	Scopes     account.Scopes `json:"scopes"`
	CreatedAt  *string        `json:"created_at"`
	LastUsedAt *string        `json:"last_used_at"`
	ExpiresAt  *string        `json:"expires_at"`
	Key        *string        `json:"key"` // the secret, in the answer to its creation only
}

func toJSON(k account.Key) keyJSON {
	return keyJSON{ID: k.ID, Name: k.Name, Scopes: k.Scopes, CreatedAt: apikit.Time(k.CreatedAt), LastUsedAt: apikit.Time(k.LastUsedAt), ExpiresAt: apikit.Time(k.ExpiresAt)}
}
