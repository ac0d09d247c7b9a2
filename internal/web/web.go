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
	"sightline/internal/seo"
	"sightline/internal/web/analyticsapi"
	"sightline/internal/web/apidoc"
	"sightline/internal/web/apikit"
	"sightline/internal/web/seoapi"
)

// Limits of every listener. A slow or idle connection is closed when its time is over.
const (
	headerTime = 5 * time.Second
	readTime   = 15 * time.Second // the whole request
	writeTime  = 30 * time.Second // the whole answer
	idleTime   = 2 * time.Minute
	headerSize = 32 << 10
	drainTime  = 8 * time.Second
	readyTime  = 2 * time.Second // for the catalog to answer a probe
)

// A Server serves both areas.
type Server struct {
	SEO, Analytics *Place
	Projects       seo.Projects
	Websites       analytics.Websites
	Gate           *account.Gate
	Ready          func(context.Context) error // fails while the catalog cannot serve
	Version        string
	Now            func() time.Time
	Log            *slog.Logger
	// Notice is how long new requests are answered with 503 before the doors close.
	Notice time.Duration

	draining atomic.Bool
}

// Serve answers requests at the doors until ctx ends, then lets the running ones finish.
func (s *Server) Serve(ctx context.Context, doors []*Door) error {
	var servers []*http.Server
	for _, door := range doors {
		handler, err := s.Handler(door.Places...)
		if err != nil {
			return errors.Join(err, CloseDoors(doors))
		}
		server := &http.Server{Handler: handler, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
			MaxHeaderBytes: headerSize, DisableGeneralOptionsHandler: true, ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug)}
		servers = append(servers, server)
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

// Handler serves the areas at one door: one alone, both at one URL together, or two told apart by the Host header.
func (s *Server) Handler(places ...*Place) (http.Handler, error) {
	var next http.Handler
	var err error
	if len(places) == 2 && *places[0].URL != *places[1].URL {
		next, err = s.byHost(places[0], places[1])
	} else {
		next, err = s.router(places...)
	}
	return &frame{next: next, log: s.Log, draining: &s.draining}, err
}

// byHost tells two areas apart by the name that the caller used.
func (s *Server) byHost(a, b *Place) (http.Handler, error) {
	first, err := s.router(a)
	if err != nil {
		return nil, err
	}
	second, err := s.router(b)
	if err != nil {
		return nil, err
	}
	nobody := apikit.NewRouter([]apikit.Route{s.health()}, s.Gate, s.Log)
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
	}), nil
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
func (s *Server) router(places ...*Place) (http.Handler, error) {
	routes, err := s.Routes(places...)
	return apikit.NewRouter(routes, s.Gate, s.Log), err
}

// Routes lists everything that is served where one area is, or both are.
func (s *Server) Routes(places ...*Place) ([]apikit.Route, error) {
	var routes []apikit.Route
	var areas []apidoc.Area
	for _, place := range places {
		base := place.URL.String()
		if place == s.SEO {
			areas = append(areas, apidoc.SEO)
			routes = append(routes, (&seoapi.API{Projects: s.Projects, Base: base, Now: s.Now}).Routes()...)
		} else {
			areas = append(areas, apidoc.Analytics)
			routes = append(routes, (&analyticsapi.API{Websites: s.Websites, Base: base, Now: s.Now}).Routes()...)
		}
	}
	document, err := apidoc.Document(s.Version, places[0].URL.String(), areas...)
	if err != nil {
		return nil, err
	}
	page, err := apidoc.Page(document)
	if err != nil {
		return nil, err
	}
	return append(routes,
		open("/api/v1/openapi.json", "application/json; charset=utf-8", document),
		open("/docs", "text/html; charset=utf-8", page),
		s.health(), s.readiness()), nil
}

// open is a route that serves a fixed document to everybody.
func open(path, kind string, content []byte) apikit.Route {
	return apikit.Route{Method: "GET", Path: path, Serve: func(w http.ResponseWriter, r *http.Request) error {
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
	return apikit.Route{Method: "GET", Path: "/healthz", Serve: func(w http.ResponseWriter, r *http.Request) error {
		return apikit.Write(w, http.StatusOK, state{"ok", http.StatusOK})
	}}
}

func (s *Server) readiness() apikit.Route {
	return apikit.Route{Method: "GET", Path: "/readyz", Serve: func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), readyTime)
		defer cancel()
		if err := s.Ready(ctx); err != nil {
			return fmt.Errorf("%w: %w", fault.Unavailable, err)
		}
		return apikit.Write(w, http.StatusOK, state{"ready", http.StatusOK})
	}}
}
