package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"sightline/client"
	"sightline/internal/account"
	"sightline/internal/store/memory"
	"sightline/internal/store/sqlite"
	"sightline/internal/web"
	"sightline/internal/web/apikit"
)

// onServers runs a test against the real handler: each area at an address of its own on SQLite, and both at one address on the
// oracle.
func onServers(t *testing.T, test func(t *testing.T, api *client.Client)) {
	t.Run("two addresses", func(t *testing.T) {
		t.Parallel()
		catalog, err := sqlite.Open(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { catalog.Close() })
		test(t, realServer(t, catalog, false, nil))
	})
	t.Run("one address", func(t *testing.T) { t.Parallel(); test(t, realServer(t, memory.Open(), true, nil)) })
}

// realServer starts the real handler on an empty catalog with one account, and is a client of it.
func realServer(t *testing.T, catalog web.Catalog, together bool, limit *apikit.RateLimit, changes ...func(*client.Options)) *client.Client {
	t.Helper()
	owner := account.New("owner@localhost", time.Now())
	secret := account.NewSecret()
	_, err := catalog.CreateOwner(t.Context(), &owner, &account.Key{Name: "first key", Hash: account.HashSecret(secret), Scopes: account.AllScopes(), CreatedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	seo, analytics := newPlace(t), newPlace(t)
	if together {
		seo.Place.URL = analytics.Place.URL
	}
	server := &web.Server{SEO: &seo.Place, Analytics: &analytics.Place, Catalog: catalog, Gate: account.NewGate(catalog, time.Now), Events: memory.OpenEvents(time.Now), Limit: limit,
		TrashKept: 7 * 24 * time.Hour, Version: "test", Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	if together {
		analytics.handler = server.Handler(&seo.Place, &analytics.Place)
	} else {
		seo.handler = server.Handler(&seo.Place)
		analytics.handler = server.Handler(&analytics.Place)
	}
	options := client.Options{SEOURL: seo.URL.String(), AnalyticsURL: analytics.URL.String(), Key: secret}
	for _, change := range changes {
		change(&options)
	}
	api, err := client.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// A place is an area whose address is known before its handler is.
type place struct {
	web.Place
	handler http.Handler
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	var err error
	if p.URL, err = url.Parse(server.URL); err != nil {
		t.Fatal(err)
	}
	return p
}

// refusal is the *client.Error that a call must have ended with.
func refusal(t *testing.T, err error, status int, text string) *client.Error {
	t.Helper()
	var refused *client.Error
	if !errors.As(err, &refused) {
		t.Fatalf("%v is no refusal", err)
	}
	if refused.Status != status || !strings.Contains(refused.Error(), text) || refused.RequestID == "" {
		t.Errorf("refused with %d %q (request %q), want %d %q", refused.Status, refused, refused.RequestID, status, text)
	}
	return refused
}

func TestWebsites(t *testing.T) {
	onServers(t, func(t *testing.T, api *client.Client) {
		ctx := t.Context()
		site, err := api.CreateWebsite(ctx, client.WebsiteFields{URL: new("https://Shop.example.com"), Privacy: new(client.Public), ExcludeParams: new("utm_*")})
		if err != nil {
			t.Fatal(err)
		}
		if site.ID != 1 || site.URL != "https://shop.example.com" || site.Privacy != client.Public || site.Email || !site.ExcludeBots || site.ExcludeParams != "utm_*" ||
			site.ExcludeIPs != "" || site.ETag == "" || site.SameDomain != 0 || site.TrackingID == "" || time.Since(site.CreatedAt) > time.Hour || !json.Valid(site.Raw) {
			t.Errorf("created %+v", site)
		}
		twin, err := api.CreateWebsite(ctx, client.WebsiteFields{URL: new("shop.example.com")})
		if err != nil || twin.SameDomain != site.ID {
			t.Errorf("the twin is %+v, %v", twin, err)
		}

		// Only the fields that are set change; a condition that does not hold changes nothing.
		changed, err := api.UpdateWebsite(ctx, site.ID, client.WebsiteFields{Privacy: new(client.Password), Password: new("open sesame")}, client.IfMatch(site.ETag))
		if err != nil || changed.Privacy != client.Password || !changed.HasPassword || changed.ExcludeParams != "utm_*" || changed.ETag == site.ETag {
			t.Errorf("changed to %+v, %v", changed, err)
		}
		_, err = api.UpdateWebsite(ctx, site.ID, client.WebsiteFields{Email: new(true)}, client.IfMatch(site.ETag))
		refusal(t, err, http.StatusPreconditionFailed, "changed")
		_, err = api.UpdateWebsite(ctx, site.ID, client.WebsiteFields{RemovePassword: true})
		if fields := refusal(t, err, http.StatusUnprocessableEntity, "password is required").Fields; len(fields) != 1 {
			t.Errorf("bad fields %v", fields)
		}
		open, err := api.UpdateWebsite(ctx, site.ID, client.WebsiteFields{RemovePassword: true, Privacy: new(client.Private), ExcludeParams: new("")})
		if err != nil || open.HasPassword || open.ExcludeParams != "" {
			t.Errorf("changed to %+v, %v", open, err)
		}

		_, err = api.DeleteWebsite(ctx, site.ID, client.IfMatch(site.ETag))
		refusal(t, err, http.StatusPreconditionFailed, "changed")
		if gone, err := api.DeleteWebsite(ctx, site.ID, client.IfMatch(open.ETag)); err != nil || gone != (client.Deleted{ID: site.ID, Object: "website", Deleted: true}) {
			t.Errorf("deleted %+v, %v", gone, err)
		}
		_, err = api.Website(ctx, site.ID)
		refusal(t, err, http.StatusNotFound, "no such record")
		if back, err := api.RestoreWebsite(ctx, site.ID); err != nil || back.URL != site.URL {
			t.Errorf("restored %+v, %v", back, err)
		}
		_, err = api.RestoreWebsite(ctx, site.ID)
		refusal(t, err, http.StatusNotFound, "no such record")
	})
}

func TestProjects(t *testing.T) {
	onServers(t, func(t *testing.T, api *client.Client) {
		ctx := t.Context()
		for _, name := range []string{"example.com", "Spring / summer 100 %", "a.b.c?d#e", "..x", "müller & söhne", "%2e"} {
			made, err := api.CreateProject(ctx, name)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if read, err := api.Project(ctx, name); err != nil || read.ID != made.ID || read.Project != name || read.ETag == "" || read.Score != nil || read.Result != "" || !read.LastReportAt.IsZero() {
				t.Errorf("%s is %+v, %v", name, read, err)
			}
			if gone, err := api.DeleteProject(ctx, name); err != nil || gone.ID != made.ID || gone.Project != name || gone.Object != "project" {
				t.Errorf("%s: deleted %+v, %v", name, gone, err)
			}
			if back, err := api.RestoreProject(ctx, made.ID); err != nil || back.Project != name {
				t.Errorf("%s: restored %+v, %v", name, back, err)
			}
			if gone, err := api.DeleteProject(ctx, fmt.Sprint(made.ID)); err != nil || gone.Project != name {
				t.Errorf("%s: deleted %+v by its id, %v", name, gone, err)
			}
		}
		made, err := api.CreateProjectOf(ctx, "https://www.example.com/about")
		if err != nil || made.Project != "example.com" {
			t.Errorf("made %+v, %v", made, err)
		}
		_, err = api.CreateProject(ctx, "example.com")
		refusal(t, err, http.StatusUnprocessableEntity, "project exists already")
		_, err = api.Project(ctx, "..")
		refusal(t, err, http.StatusNotFound, "")
		_, err = api.DeleteProject(ctx, "example.com", client.IfMatch(`"other"`))
		refusal(t, err, http.StatusPreconditionFailed, "changed")
	})
}

func TestTrash(t *testing.T) {
	onServers(t, func(t *testing.T, api *client.Client) {
		ctx := t.Context()
		site, err := api.CreateWebsite(ctx, client.WebsiteFields{URL: new("https://example.com")})
		if err == nil {
			_, err = api.DeleteWebsite(ctx, site.ID)
		}
		project, err2 := api.CreateProject(ctx, "Spring")
		if err2 == nil {
			_, err2 = api.DeleteProject(ctx, "Spring")
		}
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		page, err := api.Trash(ctx, client.Analytics, client.PageOptions{PerPage: 25})
		if err != nil || page.PerPage != 25 || page.Total != len(page.Items) || !slices.ContainsFunc(page.Items, func(item client.Trashed) bool {
			return item.Object == "website" && item.ID == site.ID && item.URL == "https://example.com" && item.PurgeAt.Sub(item.DeletedAt) == 7*24*time.Hour
		}) {
			t.Errorf("the trash of analytics has %+v, %v", page, err)
		}
		found := 0
		for item, err := range api.AllTrash(ctx, client.SEO, client.PageOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			if item.Object == "project" && item.ID == project.ID && item.Project == "Spring" {
				found++
			}
		}
		if found != 1 {
			t.Errorf("the project is in the trash %d times", found)
		}
		if gone, err := api.PurgeWebsite(ctx, site.ID); err != nil || gone.ID != site.ID {
			t.Errorf("purged %+v, %v", gone, err)
		}
		if gone, err := api.PurgeProject(ctx, project.ID); err != nil || gone.Project != "Spring" {
			t.Errorf("purged %+v, %v", gone, err)
		}
		_, err = api.RestoreProject(ctx, project.ID)
		refusal(t, err, http.StatusNotFound, "no such record")
	})
}

func TestAccountAndKeys(t *testing.T) {
	onServers(t, func(t *testing.T, api *client.Client) {
		ctx := t.Context()
		caller, err := api.Account(ctx)
		if err != nil || caller.Email != "owner@localhost" || caller.Key.Name != "first key" || len(caller.Key.Scopes) != 5 || !caller.Key.ExpiresAt.IsZero() {
			t.Errorf("the account is %+v, %v", caller, err)
		}
		expires := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
		key, err := api.CreateKey(ctx, client.NewKey{Name: "ci", Scopes: []string{"seo:read"}, ExpiresAt: expires})
		if err != nil || !strings.HasPrefix(key.Secret, "sl_") || !slices.Equal(key.Scopes, []string{"seo:read"}) || !key.ExpiresAt.Equal(expires) {
			t.Fatalf("made %+v, %v", key, err)
		}
		names := []string{}
		for key, err := range api.AllKeys(ctx, client.PageOptions{}) {
			if err != nil || key.Secret != "" {
				t.Fatalf("listed %+v, %v", key, err)
			}
			names = append(names, key.Name)
		}
		if !slices.Equal(names, []string{"first key", "ci"}) {
			t.Errorf("the keys are %q", names)
		}
		if gone, err := api.RevokeKey(ctx, key.ID); err != nil || gone.Object != "key" || gone.ID != key.ID {
			t.Errorf("revoked %+v, %v", gone, err)
		}
		_, err = api.RevokeKey(ctx, key.ID)
		refusal(t, err, http.StatusNotFound, "no such record")
	})
}

func TestApply(t *testing.T) {
	onServers(t, func(t *testing.T, api *client.Client) {
		ctx := t.Context()
		sites := make([]client.WebsiteFields, 250)
		for i := range sites {
			sites[i].URL = new(fmt.Sprintf("https://site-%03d.example", i))
		}
		counts := func(a client.Applied, err error) string {
			return fmt.Sprint(a.Created, a.Updated, a.Unchanged, len(a.Websites), err)
		}
		tried, err := api.ApplyWebsites(ctx, sites, true)
		if counts(tried, err) != "250 0 0 250 <nil>" || tried.Websites[0].ID != 0 {
			t.Errorf("a dry run does %s", counts(tried, err))
		}
		if page, err := api.Websites(ctx, client.ListOptions{}); err != nil || page.Total != 0 || len(page.Items) != 0 {
			t.Errorf("a dry run left %+v, %v", page, err)
		}
		for _, want := range []string{"250 0 0 250 <nil>", "0 0 250 250 <nil>"} {
			if got := counts(api.ApplyWebsites(ctx, sites, false)); got != want {
				t.Errorf("did %s, want %s", got, want)
			}
		}
		ids := map[int64]bool{}
		for site, err := range api.AllWebsites(ctx, client.ListOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			ids[site.ID] = true
		}
		if len(ids) != 250 {
			t.Errorf("%d websites are listed", len(ids))
		}

		some := []json.RawMessage{[]byte(`{"domain":"site-000.example","privacy":"0","colour":"red"}`), []byte(`{"url":"new.example"}`)}
		applied, err := api.ApplyWebsitesJSON(ctx, some, false)
		if counts(applied, err) != "1 1 0 2 <nil>" || !slices.Equal(applied.Ignored, []string{"colour"}) {
			t.Errorf("did %s, ignored %v", counts(applied, err), applied.Ignored)
		}
		_, err = api.ApplyWebsites(ctx, []client.WebsiteFields{{URL: new("https://a.example")}, {URL: new("https://www.a.example"), Privacy: new(client.Password)}}, false)
		fields := refusal(t, err, http.StatusUnprocessableEntity, "").Fields
		if _, bad := fields["1.url"]; !bad {
			t.Errorf("bad fields are %v", fields)
		}
		if got := counts(api.ApplyWebsites(ctx, nil, false)); got != "0 0 0 0 <nil>" {
			t.Errorf("nothing does %s", got)
		}
	})
}

// A lossy transport sends every request, but loses the first answer to each.
type lossy struct{ lost map[string]bool }

// RoundTrip implements http.RoundTripper.
func (l lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if name := r.Method + r.URL.Path; err == nil && !l.lost[name] {
		l.lost[name] = true
		response.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return response, err
}

// TestLostAnswers shows that what was done is not done again when the answer was lost.
func TestLostAnswers(t *testing.T) {
	api := realServer(t, memory.Open(), true, nil, func(o *client.Options) { o.HTTP = &http.Client{Transport: lossy{map[string]bool{}}} })
	ctx := t.Context()
	site, err := api.CreateWebsite(ctx, client.WebsiteFields{URL: new("https://example.com")})
	if err != nil || site.ID != 1 {
		t.Errorf("created %+v, %v", site, err)
	}
	project, err := api.CreateProject(ctx, "Spring")
	if err != nil || project.ID != 1 {
		t.Errorf("created %+v, %v", project, err)
	}
	if page, err := api.Websites(ctx, client.ListOptions{}); err != nil || page.Total != 1 {
		t.Errorf("there are %+v, %v", page, err)
	}
	if key, err := api.CreateKey(ctx, client.NewKey{Name: "ci"}); !errors.Is(err, client.ErrSecretLost) || key.ID != 2 {
		t.Errorf("made %+v, %v", key, err)
	}
	_, err = api.DeleteWebsite(ctx, site.ID)
	refusal(t, err, http.StatusNotFound, "no such record") // it was deleted at the first try
	if back, err := api.RestoreWebsite(ctx, site.ID); err != nil || back.ID != site.ID {
		t.Errorf("restored %+v, %v", back, err)
	}
}

// TestRateLimit calls faster than the server allows: every call succeeds in the end.
func TestRateLimit(t *testing.T) {
	api := realServer(t, memory.Open(), true, apikit.NewRateLimit(3))
	for range 9 {
		if _, err := api.Account(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
