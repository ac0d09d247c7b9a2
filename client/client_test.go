package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sightline/client"
)

// serve answers every request with one handler, in both areas.
func serve(t *testing.T, handler http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	api, err := client.New(client.Options{SEOURL: server.URL, AnalyticsURL: server.URL, Key: "a-key-of-my-own-choice", HTTP: server.Client(), Tries: 2})
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func TestNew(t *testing.T) {
	for _, c := range []struct {
		what string
		o    client.Options
		ok   bool
	}{
		{"one area", client.Options{SEOURL: "http://localhost:8081", Key: "k"}, true},
		{"a path and a slash", client.Options{AnalyticsURL: "https://example.com/sightline/", Key: " k\n"}, true},
		{"no area", client.Options{Key: "k"}, false},
		{"no key", client.Options{SEOURL: "http://localhost:8081"}, false},
		{"a key in two lines", client.Options{SEOURL: "http://localhost:8081", Key: "k\nk"}, false},
		{"no scheme", client.Options{SEOURL: "localhost:8081", Key: "k"}, false},
		{"another scheme", client.Options{SEOURL: "ftp://localhost", Key: "k"}, false},
		{"a password", client.Options{SEOURL: "http://me:secret@localhost", Key: "k"}, false},
		{"a query", client.Options{SEOURL: "http://localhost/?a=b", Key: "k"}, false},
	} {
		if _, err := client.New(c.o); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.what, err)
		} else if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v repeats a secret", c.what, err)
		}
	}
}

func TestAnAreaWithoutAddress(t *testing.T) {
	api, err := client.New(client.Options{SEOURL: "http://localhost:1", Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.Website(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "the address of the analytics area is not set") {
		t.Errorf("got %v", err)
	}
	if _, err := api.Project(t.Context(), " "); err == nil {
		t.Error("a project without a name is asked for")
	}
	if _, err := api.DeleteProject(t.Context(), ""); err == nil {
		t.Error("a project without a name is deleted")
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		what   string
		answer http.HandlerFunc
		want   client.Error
		text   string
	}{
		{"a refusal", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Request-Id", "R1")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"message":"There is no such record.","status":404,"request_id":"R1"}`)
		}, client.Error{Status: 404, Message: "There is no such record.", RequestID: "R1"}, "There is no such record."},
		{"bad fields", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, `{"message":"Some fields are not valid: privacy, url.","status":422,"errors":{"url":["is required"],"privacy":["must be 0","or 1"]}}`)
		}, client.Error{Status: 422, Message: "Some fields are not valid: privacy, url."}, "privacy must be 0, or 1; url is required"},
		{"many bad entries", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, `{"message":"No.","errors":{"10.url":["j"],"9.url":["i"],"2.url":["b"],"1.url":["a"],"1.email":["0"],"11.url":["k"],"websites":["w"]}}`)
		}, client.Error{Status: 422, Message: "No."}, "websites w; 1.email 0; 1.url a; 2.url b; 9.url i; and 2 more"},
		{"a page of a proxy", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `<html>no</html>`)
		}, client.Error{Status: 403, Message: "The server answered 403 Forbidden."}, "The server answered 403 Forbidden."},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://example.com/x", http.StatusMovedPermanently)
		}, client.Error{Status: 301, Message: "The server redirects to https://example.com/x: use that address."}, "The server redirects to https://example.com/x: use that address."},
	} {
		t.Run(c.what, func(t *testing.T) {
			_, err := serve(t, c.answer).CreateWebsite(t.Context(), client.WebsiteFields{})
			var got *client.Error
			if !errors.As(err, &got) {
				t.Fatalf("got %v", err)
			}
			if got.Status != c.want.Status || got.Message != c.want.Message || got.RequestID != c.want.RequestID || got.Error() != c.text {
				t.Errorf("got %+v, %q", got, got.Error())
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	api, err := client.New(client.Options{SEOURL: server.URL, Key: "k", Tries: 2})
	if err != nil {
		t.Fatal(err)
	}
	_, err = api.Account(t.Context())
	var unreached *client.ConnectionError
	if !errors.As(err, &unreached) || unreached.Base != server.URL || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("got %v", err)
	}
}

func TestAnswersThatBreakOffAreTriedAgain(t *testing.T) {
	tries := 0
	api := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if tries++; tries == 1 {
			w.Header().Set("Content-Length", "1000")
		}
		fmt.Fprint(w, `{"data":{"id":3}}`)
	})
	if site, err := api.Website(t.Context(), 3); err != nil || site.ID != 3 || tries != 2 {
		t.Errorf("%+v after %d tries: %v", site, tries, err)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	api := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		block := []byte(strings.Repeat(" ", 1<<20))
		for range 80 {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	if _, err := api.Website(t.Context(), 3); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("got %v", err)
	}
}

// TestFields shows what a change sends: only what is set.
func TestFields(t *testing.T) {
	for _, c := range []struct {
		fields client.WebsiteFields
		want   string
	}{
		{client.WebsiteFields{}, `{}`},
		{client.WebsiteFields{URL: new("https://example.com")}, `{"url":"https://example.com"}`},
		{client.WebsiteFields{Privacy: new(client.Public), Email: new(false), ExcludeBots: new(true)}, `{"privacy":0,"email":0,"exclude_bots":1}`},
		{client.WebsiteFields{ExcludeParams: new(""), ExcludeIPs: new("10.0.0.1")}, `{"exclude_params":"","exclude_ips":"10.0.0.1"}`},
		{client.WebsiteFields{Privacy: new(client.Password), Password: new("secret")}, `{"privacy":2,"password":"secret"}`},
		{client.WebsiteFields{RemovePassword: true}, `{"password":null}`},
	} {
		if got, err := json.Marshal(c.fields); err != nil || string(got) != c.want {
			t.Errorf("%s (%v), want %s", got, err, c.want)
		}
	}
}

func TestAll(t *testing.T) {
	var asked []string
	api := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RawQuery)
		pages := map[string]string{"1": `{"id":1},{"id":2}`, "2": `{"id":3},{"id":4}`, "3": `{"id":5}`}
		fmt.Fprintf(w, `{"data":[%s],"meta":{"current_page":%s,"last_page":3,"per_page":2,"total":5}}`, pages[r.FormValue("page")], r.FormValue("page"))
	})
	var ids []int64
	for site, err := range api.AllWebsites(t.Context(), client.ListOptions{Search: "a b", Sort: "desc", SortBy: "created_at", SearchBy: "domain"}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, site.ID)
	}
	const rest = "&per_page=100&search=a+b&search_by=domain&sort=desc&sort_by=created_at"
	if !slices.Equal(ids, []int64{1, 2, 3, 4, 5}) || !slices.Equal(asked, []string{"page=1" + rest, "page=2" + rest, "page=3" + rest}) {
		t.Errorf("ids %v, asked for %q", ids, asked)
	}

	asked = nil
	for project := range api.AllProjects(t.Context(), client.ListOptions{PerPage: 10, Page: 2}) {
		if project.ID == 4 {
			break // no more pages are read
		}
	}
	if !slices.Equal(asked, []string{"page=2&per_page=10"}) {
		t.Errorf("asked for %q", asked)
	}
}

func TestAllStopsAtAnError(t *testing.T) {
	api := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("page") == "2" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"data":[{"id":1}],"meta":{"current_page":1,"last_page":9,"per_page":1,"total":9}}`)
	})
	var seen []string
	for key, err := range api.AllKeys(t.Context(), client.PageOptions{}) {
		seen = append(seen, fmt.Sprint(key.ID, err))
	}
	if !slices.Equal(seen, []string{"1 <nil>", "0 The server answered 401 Unauthorized."}) {
		t.Errorf("got %q", seen)
	}
}

func TestLostSecret(t *testing.T) {
	api := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Idempotency-Replayed", "true")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"data":{"id":5,"name":"ci","key":null},"status":201}`)
	})
	key, err := api.CreateKey(t.Context(), client.NewKey{Name: "ci", ExpiresAt: time.Now().Add(time.Hour)})
	if !errors.Is(err, client.ErrSecretLost) || key.ID != 5 {
		t.Errorf("got %+v, %v", key, err)
	}
}

func TestDeadline(t *testing.T) {
	wake := make(chan struct{})
	api := serve(t, func(http.ResponseWriter, *http.Request) { <-wake })
	defer close(wake)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := api.Website(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
