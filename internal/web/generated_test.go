package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/collect"
	"sightline/internal/collect/place"
	"sightline/internal/seo"
	"sightline/internal/store"
	"sightline/internal/store/memory"
	"sightline/internal/store/postgres/pgtest"
	"sightline/internal/trash"
	"sightline/internal/web"
	"sightline/internal/web/apidoc"
	"sightline/internal/web/apidoc/doctest"
)

// fixedSeed is the one that every run starts from; a second is drawn anew.
const fixedSeed = 20261114

// TestGeneratedRequests plays requests that are made from the OpenAPI documents: valid ones must be accepted, all others
// refused as the document says, and no answer may be a 5xx or differ from the document. SIGHTLINE_REQUESTS makes it that
// many requests instead of a few, SIGHTLINE_SEED repeats a run.
func TestGeneratedRequests(t *testing.T) {
	count := number(t, "SIGHTLINE_REQUESTS", 2000)
	drawn := number(t, "SIGHTLINE_SEED", int(rand.Uint32()))
	t.Logf("SIGHTLINE_REQUESTS=%d SIGHTLINE_SEED=%d", count, drawn)
	both := []apidoc.Area{apidoc.SEO, apidoc.Analytics}
	for _, engine := range []struct {
		name  string
		open  func(*testing.T) (database, dir string)
		areas [][]apidoc.Area
		share int // of ten
	}{
		{"sqlite", func(t *testing.T) (string, string) { return "", t.TempDir() }, [][]apidoc.Area{{apidoc.SEO}, {apidoc.Analytics}, both}, 8},
		{"postgres", func(t *testing.T) (string, string) { return pgtest.URL(t), "" }, [][]apidoc.Area{both}, 2},
	} {
		for _, described := range engine.areas {
			for _, seed := range []uint64{fixedSeed, uint64(drawn)} {
				t.Run(fmt.Sprintf("%s/%s/%d", engine.name, described, seed), func(t *testing.T) {
					t.Parallel()
					database, dir := engine.open(t)
					newPlay(t, database, dir, described, seed).run(count * engine.share / 10 / len(engine.areas) / 2)
				})
			}
		}
	}
}

// number reads a variable of the environment.
func number(t *testing.T, variable string, otherwise int) int {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// A play is one account that calls with generated requests. It is the stage of their generator.
type play struct {
	*testing.T
	catalog   store.Catalog
	events    *memory.Events
	owner     account.Account
	keys      map[string]string         // by the scopes that they lack
	records   map[string]doctest.Record // by the kind that a path names
	made      int
	rounds    int // of audits
	generator *doctest.Generator
	transport http.RoundTripper
	log       *lockedBuffer
}

func newPlay(t *testing.T, database, dir string, described []apidoc.Area, seed uint64) *play {
	t.Helper()
	catalog, err := store.Open(t.Context(), database, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := catalog.Close(); err != nil {
			t.Error(err)
		}
	})
	clock := func() time.Time { return start }
	p := &play{T: t, catalog: catalog, events: memory.OpenEvents(clock), keys: map[string]string{}, records: map[string]doctest.Record{}, log: &lockedBuffer{}}
	p.owner = account.New("owner@localhost", start)
	p.ok(catalog.CreateAccount(t.Context(), &p.owner))
	place := &web.Place{URL: mustURL("http://localhost:1")}
	log := slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelError}))
	server := &web.Server{Catalog: catalog, Gate: account.NewGate(catalog, clock), Events: p.events, Collector: p.collector(clock, log), TrashKept: time.Hour,
		Version: "test", Now: clock, Log: log, Wake: p.audit}
	var places []*web.Place
	for _, area := range described {
		own := *place
		if places = append(places, &own); area == apidoc.SEO {
			server.SEO = &own
		} else {
			server.Analytics = &own
		}
	}
	handler := server.Handler(places...)
	document, err := apidoc.Document("test", place.URL.String(), described...)
	p.ok(err)
	p.transport = doctest.Wrap(t, document, direct{handler})
	p.generator, err = doctest.NewGenerator(document, p, seed)
	p.ok(err)
	return p
}

// collector is a real one. What it takes is soon among the events.
func (p *play) collector(clock func() time.Time, log *slog.Logger) *collect.Collector {
	p.Helper()
	places, err := place.Open("")
	p.ok(err)
	collector, err := collect.Open(p.Context(), p.catalog, p.events, collect.Options{Dir: p.TempDir(), Places: places, Now: clock, Log: log})
	p.ok(err)
	p.Cleanup(func() {
		if err := collector.Close(context.Background()); err != nil {
			p.Error(err)
		}
	})
	return collector
}

func (p *play) ok(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// direct hands requests to a handler without a connection in between.
type direct struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// run sends requests until there were enough, or too many failed.
func (p *play) run(count int) {
	for i := 0; i < count && !p.Failed(); i++ {
		request := p.generator.Next()
		got := p.send(request)
		if got.status >= 500 || request.Want != nil && !slices.Contains(request.Want, got.status) {
			p.Errorf("request %d: %d %.300s\n%s", i, got.status, got.body, request)
		}
		p.checkTag(got)
		if p.Failed() {
			p.Fatalf("request %d: %s\nthe log: %s", i, request, p.log)
		}
		p.learn(request, got)
		if key := request.Header.Get("Idempotency-Key"); key != "" && len(request.Wrong) == 0 {
			p.repeat(request, got)
		}
		if strings.HasSuffix(request.Operation, "/import") && len(request.Wrong) == 0 {
			p.importAgain(request, got)
		}
	}
}

func (p *play) send(request doctest.Request) answer {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), request.Method, "http://localhost:1"+request.Target, bytes.NewReader(request.Body))
	p.ok(err)
	r.Header, r.RemoteAddr = request.Header.Clone(), "198.51.100.7:4321"
	response, err := p.transport.RoundTrip(r)
	p.ok(err)
	defer response.Body.Close()
	var body bytes.Buffer
	_, err = body.ReadFrom(response.Body)
	p.ok(err)
	return answer{response.StatusCode, response.Header, body.String()}
}

// learn takes note of what a request changed.
func (p *play) learn(request doctest.Request, got answer) {
	method, path, _ := strings.Cut(request.Operation, " ")
	if kind := kindOf(path); got.status < 300 && strings.Contains(path, "{") {
		switch record := p.records[kind]; {
		case method == http.MethodDelete || strings.Contains(path, "/trash/") || len(request.Wrong) > 0:
			delete(p.records, kind)
		case got.header.Get("ETag") != "":
			record.Tag = got.header.Get("ETag")
			p.records[kind] = record
		}
	}
}

// repeat sends a write again: with the same body it gets the first answer, with another it is refused.
func (p *play) repeat(request doctest.Request, first answer) {
	again := p.send(request)
	var was, is struct{ Data map[string]any }
	p.ok(json.Unmarshal([]byte(first.body), &was))
	p.ok(json.Unmarshal([]byte(again.body), &is))
	delete(was.Data, "key") // a secret is shown once
	delete(is.Data, "key")
	if strings.Contains(request.Target, "wait=") { // who waits sees more than was kept: how the audit went on
		was.Data, is.Data = map[string]any{"id": was.Data["id"]}, map[string]any{"id": is.Data["id"]}
	}
	if again.status != first.status || fmt.Sprint(was) != fmt.Sprint(is) || again.header.Get("Idempotency-Replayed") != "true" {
		p.Errorf("repeated: %d %v %s, first %d %s\n%s", again.status, again.header, again.body, first.status, first.body, request)
	}
	if request.Body = append(request.Body, ' '); len(request.Body) == 1 {
		request.Header.Set("Content-Type", "application/json")
	}
	if other := p.send(request); other.status != http.StatusUnprocessableEntity {
		p.Errorf("the same idempotency key with another body: %d %s\n%s", other.status, other.body, request)
	}
}

// importAgain sends an import again: then all of it is known.
func (p *play) importAgain(request doctest.Request, first answer) {
	stored, known := first.field("stored").(float64), first.field("known").(float64)
	if again := p.send(request); again.field("stored") != 0.0 || again.field("known") != stored+known {
		p.Errorf("imported again: %s, first %s\n%s", again.body, first.body, request)
	}
}

// Key implements doctest.Stage.
func (p *play) Key(lacking []string) string {
	name := strings.Join(lacking, " ")
	if p.keys[name] == "" {
		scopes := slices.DeleteFunc(account.AllScopes(), func(s account.Scope) bool { return slices.Contains(lacking, string(s)) })
		p.keys[name] = account.NewSecret()
		p.ok(p.catalog.CreateKey(p.Context(), &account.Key{AccountID: p.owner.ID, Name: "test", Hash: account.HashSecret(p.keys[name]), Scopes: scopes, CreatedAt: start}, nil))
	}
	return p.keys[name]
}

// kindOf is the kind of record that a path names, with the place where it is.
func kindOf(path string) string {
	for _, kind := range []string{"/trash/website/", "/trash/project/", "/trash/report/", "/keys/", "/projects/", "/reports/"} {
		if strings.Contains(path, kind) {
			return kind
		}
	}
	return "/websites/"
}

// Record implements doctest.Stage.
func (p *play) Record(path string) doctest.Record {
	kind := kindOf(path)
	if _, there := p.records[kind]; !there {
		p.made++
		p.records[kind] = p.create(kind, fmt.Sprintf("record%d.example", p.made))
	}
	return p.fresh(kind, p.records[kind])
}

// create stores a record of a kind.
func (p *play) create(kind, name string) doctest.Record {
	ctx, now := p.Context(), start
	named := func(id int64) doctest.Record {
		return doctest.Record{Name: fmt.Sprint(id), Tag: fmt.Sprintf(`"%d-1"`, id)}
	}
	switch kind {
	case "/reports/", "/trash/report/":
		return p.createReport(kind, name)
	case "/keys/":
		key := account.Key{AccountID: p.owner.ID, Name: name, Hash: account.HashSecret(account.NewSecret()), Scopes: account.AllScopes(), CreatedAt: now}
		p.ok(p.catalog.CreateKey(ctx, &key, nil))
		return named(key.ID)
	case "/projects/", "/trash/project/":
		project := seo.NewProject(p.owner.ID, now)
		p.ok(project.SetName(name))
		p.ok(p.catalog.CreateProject(ctx, &project, nil))
		p.newReport(name)
		if kind == "/projects/" {
			return doctest.Record{Name: []string{name, "WWW." + name, fmt.Sprint(project.ID)}[p.made%3]}
		}
		project, err := p.catalog.DeleteProject(ctx, p.owner.ID, seo.Ref{ID: project.ID}, trash.Deletion{At: now})
		p.ok(err)
		return doctest.Record{Name: fmt.Sprint(project.ID), Tag: fmt.Sprintf(`"%d-%d"`, project.ID, project.Version)}
	default:
		website := analytics.NewWebsite(p.owner.ID, now)
		p.ok(website.SetURL(name))
		p.ok(p.catalog.CreateWebsite(ctx, &website, nil))
		if kind == "/trash/website/" {
			p.ok(p.catalog.DeleteWebsite(ctx, p.owner.ID, website.ID, trash.Deletion{At: now}))
		}
		p.ok(p.events.Append(ctx, analytics.Batch{Events: []analytics.Event{
			{Website: website.ID, At: now.Add(-time.Minute), Kind: analytics.PageView, Page: "/", Visitor: 1, Visit: 1, Place: analytics.Place{Country: "DE"}},
			{Website: website.ID, At: now.Add(-time.Hour), Kind: analytics.Custom, Name: "signup", Page: "/a", Visitor: 2, Visit: 2, Value: 49.9, Props: map[string]string{"plan": "pro"}},
			{Website: website.ID, At: now.AddDate(-1, 0, 0), Kind: analytics.Engagement, Page: "/", Visitor: 3, Visit: 3, Depth: 70},
		}}))
		record := named(website.ID)
		record.TrackingID, record.Host = website.TrackingID, name
		return record
	}
}
