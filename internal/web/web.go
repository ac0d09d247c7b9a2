// Package web is where a request enters: it listens, finds the area that a request is for, and stops gracefully.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/fault"
	"sightline/internal/receipt"
	"sightline/internal/seo"
	"sightline/internal/trash"
	"sightline/internal/web/accountapi"
	"sightline/internal/web/analyticsapi"
	"sightline/internal/web/apidoc"
	"sightline/internal/web/apikit"
	"sightline/internal/web/beacon"
	"sightline/internal/web/origin"
	"sightline/internal/web/seoapi"
)

// Limits of every listener. A slow or idle connection is closed when its time is over.
const (
	headerTime = 5 * time.Second
	readTime   = 12 * time.Second // the whole request
	writeTime  = 30 * time.Second // request, work and answer
	answerTime = 10 * time.Second // the answer alone: to be sent, and to be taken by the caller's machine
	idleTime   = 2 * time.Minute
	headerSize = 32 << 10
	drainTime  = 8 * time.Second
	readyTime  = 2 * time.Second // for the catalog to answer a probe
)

// A Catalog is what the operations of both areas need of the store.
type Catalog interface {
	account.Accounts
	account.Keys
	analytics.Websites
	analytics.BulkWebsites
	seo.Projects
	seo.Reports
	seo.Results
	trash.Trash
	receipt.Receipts
	// Ping fails while the catalog cannot serve.
	Ping(ctx context.Context) error
}

// A Server serves both areas.
type Server struct {
	SEO, Analytics *Place
	Catalog        Catalog
	Gate           *account.Gate
	Events         analyticsapi.Store // what visitors did; nil: this server keeps none
	Collector      beacon.Collector   // counts visits; nil: none are counted here
	Limit          *apikit.RateLimit  // nil: none
	Proxies        origin.Proxies     // who is believed about where a request comes from
	TrashKept      time.Duration      // how long deleted records stay in the trash; 0: they are erased at once
	Version        string
	Now            func() time.Time
	Log            *slog.Logger
	Meter          Meter  // nil: nobody asks
	Wake           func() // tells whoever makes audits that one waits; nil: they look for themselves
	// Notice is how long new requests are answered with 503 before the doors close.
	Notice time.Duration

	draining atomic.Bool
}

// Serve answers requests at the doors until ctx ends, then lets the running ones finish.
func (s *Server) Serve(ctx context.Context, doors []*Door) error {
	var servers []*http.Server
	for _, door := range doors {
		servers = append(servers, s.server(ctx, door))
	}
	ended := make(chan error)
	running := 0
	for i, door := range doors {
		for _, listener := range door.listeners {
			running++
			go func() { ended <- servers[i].Serve(listener) }()
		}
	}
	var first error
	select {
	case <-ctx.Done():
	case first = <-ended:
		running--
	}
	s.draining.Store(true)
	if first == nil {
		time.Sleep(s.Notice)
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	var group sync.WaitGroup
	for _, server := range servers {
		group.Go(func() {
			if err := server.Shutdown(drain); err != nil {
				s.Log.Warn("some requests did not end in time and were cut off", "error", errors.Join(err, server.Close()))
			}
		})
	}
	group.Wait()
	for ; running > 0; running-- {
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			first = errors.Join(first, err)
		}
	}
	return first
}

// server is the HTTP server of a door. What an admin started, such as a profile, ends with ctx.
func (s *Server) server(ctx context.Context, door *Door) *http.Server {
	server := &http.Server{ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: headerSize, DisableGeneralOptionsHandler: true, ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug)}
	if door.admin != nil {
		server.Handler, server.BaseContext = door.admin, func(net.Listener) context.Context { return ctx }
		return server
	}
	server.Handler = s.Handler(door.Places...)
	return server
}

// Handler serves the areas at one door: one alone, both at one URL together, or two told apart by the Host header.
func (s *Server) Handler(places ...*Place) http.Handler {
	next := s.router
	if len(places) == 2 && *places[0].URL != *places[1].URL {
		next = s.byHost
	}
	return &frame{next: next(places...), log: s.Log, meter: s.Meter, draining: &s.draining}
}

// byHost tells two areas apart by the name that the caller used.
func (s *Server) byHost(places ...*Place) http.Handler {
	a, b := places[0], places[1]
	first, second := s.router(a), s.router(b)
	nobody := apikit.NewRouter([]apikit.Route{s.health()}, s.house("unknown"))
	sameName := a.URL.Hostname() == b.URL.Hostname() // then only the ports differ
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case isHost(r.Host, a.URL, sameName):
			first.ServeHTTP(w, r)
		case isHost(r.Host, b.URL, sameName):
			second.ServeHTTP(w, r)
		default:
			nobody.ServeHTTP(w, r)
		}
	})
}

// isHost says whether a Host header names a base URL. A port that is left out is the scheme's own.
func isHost(header string, base *url.URL, withPort bool) bool {
	name, port, err := net.SplitHostPort(header)
	if err != nil {
		name, port = strings.Trim(header, "[]"), ""
	}
	if !strings.EqualFold(strings.TrimSuffix(name, "."), base.Hostname()) {
		return false
	}
	return !withPort || cmp.Or(port, schemePort(base)) == cmp.Or(base.Port(), schemePort(base))
}

// router serves the operations of one area, or of both.
func (s *Server) router(places ...*Place) http.Handler {
	area := "analytics"
	switch {
	case len(places) == 2:
		area = "both"
	case places[0] == s.SEO:
		area = "seo"
	}
	return apikit.NewRouter(s.Routes(places...), s.house(area))
}

func (s *Server) house(area string) apikit.House {
	return apikit.House{Area: area, Gate: s.Gate, Receipts: s.Catalog, Limit: s.Limit, Now: s.Now, Log: s.Log}
}

// Routes lists everything that is served where one area is, or both are.
func (s *Server) Routes(places ...*Place) []apikit.Route {
	var routes []apikit.Route
	var areas []apidoc.Area
	var objects []trash.Object
	base := places[0].URL.String()
	for _, place := range places {
		if place == s.SEO {
			areas, objects = append(areas, apidoc.SEO), append(objects, trash.Project, trash.Report)
			routes = append(routes, s.seoAPI(base).Routes()...)
		} else {
			areas, objects = append(areas, apidoc.Analytics), append(objects, trash.Website)
			routes = append(routes, (&analyticsapi.API{Accounts: s.Catalog, Websites: s.Catalog, Bulk: s.Catalog, Events: s.Events, Trash: s.Catalog, Kept: s.TrashKept, Base: base, Now: s.Now}).Routes()...)
			routes = append(routes, (&beacon.API{Collector: s.Collector, Gate: s.Gate, Client: s.Proxies.Client}).Routes()...)
		}
	}
	routes = append(routes, (&accountapi.API{Accounts: s.Catalog, Keys: s.Catalog, Trash: s.Catalog, Objects: objects, Kept: s.TrashKept, Base: base, Now: s.Now}).Routes()...)
	// Both would take half of a start, and few ask for them.
	document := sync.OnceValues(func() ([]byte, error) { return apidoc.Document(s.Version, base, areas...) })
	page := sync.OnceValues(func() ([]byte, error) {
		content, err := document()
		if err != nil {
			return nil, err
		}
		return apidoc.Page(content)
	})
	return append(routes,
		open("/api/v1/openapi.json", "application/json; charset=utf-8", document),
		open("/docs", "text/html; charset=utf-8", page),
		s.health(), s.readiness())
}

func (s *Server) seoAPI(base string) *seoapi.API {
	wake := s.Wake
	if wake == nil {
		wake = func() {}
	}
	return &seoapi.API{Projects: s.Catalog, Reports: s.Catalog, Results: s.Catalog, Websites: s.Catalog, Trash: s.Catalog, Kept: s.TrashKept, Base: base,
		Now: s.Now, Wake: wake, Ending: s.draining.Load}
}

// open is a route that serves a fixed document to everybody.
func open(path, kind string, made func() ([]byte, error)) apikit.Route {
	return apikit.Route{Method: "GET", Path: path, Open: true, Serve: func(w http.ResponseWriter, r *http.Request) error {
		content, err := made()
		if err != nil {
			return err
		}
		header := w.Header()
		header.Set("Content-Type", kind)
		header.Set("Content-Length", strconv.Itoa(len(content)))
		header.Set("Content-Security-Policy", apidoc.Policy())
		header.Set("Cache-Control", "no-cache")
		w.Write(content) // fails when the caller has gone: nobody is left to tell
		return nil
	}}
}

// A state is the answer of the probes.
type state struct {
	Message string `json:"message"`
	Status  int    `json:"status"`
}

func (s *Server) health() apikit.Route {
	return apikit.Route{Method: "GET", Path: "/healthz", Open: true, Serve: func(w http.ResponseWriter, r *http.Request) error {
		return apikit.Write(w, http.StatusOK, state{"ok", http.StatusOK})
	}}
}

func (s *Server) readiness() apikit.Route {
	return apikit.Route{Method: "GET", Path: "/readyz", Open: true, Serve: func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), readyTime)
		defer cancel()
		if err := s.Catalog.Ping(ctx); err != nil {
			return fmt.Errorf("%w: %w", fault.Unavailable, err)
		}
		return apikit.Write(w, http.StatusOK, state{"ready", http.StatusOK})
	}}
}
