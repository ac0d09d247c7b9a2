package apikit

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sightline/internal/account"
	"sightline/internal/listing"
)

// FuzzForm compares with the standard library where that agrees on the format.
func FuzzForm(f *testing.F) {
	for _, seed := range []string{"", "a=b&c=d", "a=%20+&a=", "%zz", "a;b=c;d", "=&&=x", "a=%ff", "%C3%BC=%F0%9F%91%A9", "a=b=c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		pairs, err := decodeForm(text)
		if err != nil {
			return
		}
		for _, p := range pairs {
			if !utf8.ValidString(p.name) || !utf8.ValidString(p.text) {
				t.Errorf("%q gave invalid UTF-8: %+v", text, p)
			}
		}
		if strings.Contains(text, ";") {
			return
		}
		values, err := url.ParseQuery(text)
		if err != nil {
			t.Fatalf("accepted %q, which url.ParseQuery does not: %v", text, err)
		}
		for _, p := range pairs {
			if values[p.name][0] != p.text {
				t.Errorf("%q: %q = %q, url.ParseQuery says %q", text, p.name, p.text, values[p.name])
			}
			values[p.name] = values[p.name][1:]
		}
	})
}

// FuzzJSON demands that what is accepted is an object that the standard library reads the same way.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `{"url":"a","privacy":1}`, `{"a":null,"b":[1,{}],"c":true}`, `{"a":"\ud83d\ude00"}`, `{"a":"\ud800"}`, `[1]`, `{"a":1}{}`, `{"a":1e5,"a":-0}`, " ", "{\"a\":\"\xff\"}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		pairs, err := decodeJSON(body)
		if err != nil || len(strings.TrimSpace(string(body))) == 0 {
			return
		}
		var object map[string]any
		if err := json.Unmarshal(body, &object); err != nil {
			t.Fatalf("accepted %q: %v", body, err)
		}
		last := map[string]pair{}
		for _, p := range pairs {
			last[p.name] = p
		}
		if len(last) != len(object) {
			t.Fatalf("%q: %d names, want %d", body, len(last), len(object))
		}
		for name, value := range object {
			p := last[name]
			if text, isText := value.(string); isText && p.text != text || value == nil != p.null {
				t.Errorf("%q: %q = %+v, want %v", body, name, p, value)
			}
		}
	})
}

// anyKey lets everybody in who sends a key.
type anyKey struct{ keys }

type keys = account.Keys

func (anyKey) KeyByHash(context.Context, account.Hash) (account.Key, error) {
	return account.Key{ID: 1, AccountID: 1, Scopes: account.AllScopes()}, nil
}

// FuzzRequest sends any path, query, body and headers through the router: whatever comes, the answer is JSON and no 5xx.
func FuzzRequest(f *testing.F) {
	list := List{SearchBy: []string{"name"}, SortBy: []string{"name"}, PerPage: []int{10, 25}}
	routes := []Route{{Method: "GET", Path: "/api/v1/things", Scopes: account.Scopes{account.SEORead}, Query: ListQuery, Serve: func(w http.ResponseWriter, r *http.Request) error {
		request, err := list.Request(r)
		if err != nil {
			return err
		}
		return WriteList(w, r, "http://localhost", request, listing.Page[int]{Items: []int{1}, Total: 100}, func(n int) int { return n })
	}}, {Method: "PUT", Path: "/api/v1/things/{id}", Scopes: account.Scopes{account.SEOWrite}, Body: []string{"url"}, Serve: func(w http.ResponseWriter, r *http.Request) error {
		if _, err := ID(r, "id"); err != nil {
			return err
		}
		CallOf(r).Body.Text("url")
		return CallOf(r).Body.Bad.OrNil()
	}}}
	router := NewRouter(routes, House{Gate: account.NewGate(anyKey{}, time.Now), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	f.Add("GET", "/api/v1/things", "page=2&per_page=10&sort=asc", "", "", "")
	f.Add("PUT", "/api/v1/things/1/", "", "url=a", "application/x-www-form-urlencoded", "*/*")
	f.Add("PUT", "/api/v1//things/%2e%2e", "a=%", `{"url":1}`, "application/json", "text/html;q=0, application/json")
	f.Fuzz(func(t *testing.T, method, path, query, body, kind, accept string) {
		request, err := http.NewRequest(method, "http://localhost/", strings.NewReader(body))
		if err != nil {
			return
		}
		if request.URL, err = url.ParseRequestURI(path); err != nil {
			return
		}
		request.URL.RawQuery = query
		request.Header = http.Header{"Authorization": {"Bearer " + account.NewSecret()}, "Content-Type": {kind}, "Accept": {accept}}
		recorder := httptest.NewRecorder()
		router.ServeHTTP(recorder, Begin(request, "id"))
		if recorder.Code >= 500 || recorder.Code >= 300 && recorder.Code < 400 {
			t.Errorf("%s %s?%s: %d %s", method, path, query, recorder.Code, recorder.Body)
		}
		if recorder.Body.Len() > 0 && !json.Valid(recorder.Body.Bytes()) {
			t.Errorf("%s %s?%s: not JSON: %s", method, path, query, recorder.Body)
		}
	})
}
