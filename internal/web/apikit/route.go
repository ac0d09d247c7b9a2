// Package apikit is what the operations of both areas have in common: how a request is routed, who may make it, how
// its fields are read, and how it is answered.
package apikit

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"sightline/internal/account"
	"sightline/internal/receipt"
)

// workTime bounds what the server itself does for a request: finding the key, and then the operation.
const workTime = 10 * time.Second

// A Route is one operation.
type Route struct {
	Method string
	Path   string          // an http.ServeMux pattern without method and host
	Open   bool            // everybody may call it
	Quiet  bool            // so many calls are made that only those that fail are logged, and not even those that came at a busy time
	Scopes []account.Scope // the caller's key must allow one of them; none: any key will do. Open operations look themselves at a key that is sent
	Query  []string        // the query parameters that it knows
	Repeat []string        // those of them that may be sent several times
	Body   []string        // the body fields that it knows
	Many   bool            // the body is a JSON array of such bodies
	Lines  bool            // the body is lines of JSON, which Serve reads with Lines
	File   bool            // it answers with a file, not with JSON: every Accept will do
	Time   time.Duration   // the longest that it may take, if that is more than for others
	Serve  func(http.ResponseWriter, *http.Request) error
}

// A House is what every router needs of the program.
type House struct {
	Area     string           // what the router serves
	Gate     *account.Gate    // callers enter through it
	Receipts receipt.Receipts // of writes with an idempotency key
	Limit    *RateLimit       // nil: none
	Now      func() time.Time
	Log      *slog.Logger
}

// A Router serves the routes of an area by the conventions of the interface.
type Router struct {
	House
	mux   *http.ServeMux
	fixed map[string]*endpoint // those whose path has no parameters, which need no search
}

// NewRouter is a router of routes.
func NewRouter(routes []Route, house House) *Router {
	router := &Router{House: house, mux: http.NewServeMux(), fixed: map[string]*endpoint{}}
	endpoints := map[string]*endpoint{}
	for _, route := range routes {
		if endpoints[route.Path] == nil {
			endpoints[route.Path] = &endpoint{router: router, path: route.Path, routes: map[string]named{}}
			router.mux.Handle(route.Path, endpoints[route.Path])
			if !strings.Contains(route.Path, "{") && !strings.HasSuffix(route.Path, "/") {
				router.fixed[route.Path] = endpoints[route.Path]
			}
		}
		endpoints[route.Path].routes[route.Method] = named{&route, route.Method + " " + route.Path}
	}
	return router
}

// ServeHTTP finds the endpoint of a path. One trailing slash does not matter. The mux would redirect paths with
// doubled slashes or dots to their clean form; the API never redirects, so they are unknown.
func (rt *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	CallOf(r).Area = rt.Area
	if fixed := rt.fixed[r.URL.Path]; fixed != nil && r.URL.RawPath == "" {
		fixed.ServeHTTP(w, r)
		return
	}
	if escaped := r.URL.EscapedPath(); len(escaped) > 1 && strings.HasSuffix(escaped, "/") {
		trimmed := *r.URL
		trimmed.Path, trimmed.RawPath = strings.TrimSuffix(r.URL.Path, "/"), strings.TrimSuffix(r.URL.RawPath, "/")
		r = r.Clone(r.Context())
		r.URL = &trimmed
	}
	if _, pattern := rt.mux.Handler(r); pattern == "" || path.Clean(r.URL.EscapedPath()) != r.URL.EscapedPath() {
		rt.fail(w, r, errUnknownPath)
		return
	}
	rt.mux.ServeHTTP(w, r)
}

// fail answers an error and logs the unforeseen ones.
func (rt *Router) fail(w http.ResponseWriter, r *http.Request, err error) {
	Fail(w, r, err, rt.Log)
}

// An endpoint is one path with an operation for each method.
type endpoint struct {
	router *Router
	path   string
	routes map[string]named
}

// A named route is a route with how logs and metrics call it.
type named struct {
	*Route
	name string
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	route, known := e.routes[method]
	call := CallOf(r)
	if known {
		call.Route, call.Quiet = route.name, route.Quiet
		if err := e.serve(w, r, route.Route); err != nil {
			e.router.fail(w, r, err)
		}
		return
	}
	call.Route = "? " + e.path // a method that is not served may be anything
	w.Header().Set("Allow", strings.Join(e.allowed(), ", "))
	if method == http.MethodOptions {
		w.Header().Set("Access-Control-Allow-Methods", strings.Join(e.allowed(), ", "))
		w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id")
		w.Header().Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	e.router.fail(w, r, errMethod(e.allowed()))
}

// serve lets the request pass the refusals in their fixed order and then does the operation.
func (e *endpoint) serve(w http.ResponseWriter, r *http.Request, route *Route) error {
	if route.Open {
		return route.Serve(w, r)
	}
	call := CallOf(r)
	key, err := e.enter(r)
	if err != nil {
		return err
	}
	call.Key = key
	if len(route.Scopes) > 0 && !slices.ContainsFunc(route.Scopes, key.Scopes.Allow) {
		return errScope(route.Scopes)
	}
	if err := e.router.Limit.take(w, key.ID, e.router.Now()); err != nil {
		return err
	}
	if !route.File && !acceptsJSON(r.Header.Values("Accept")) {
		return errNotAcceptable
	}
	if err := call.readFields(w, r, *route); err != nil {
		return err
	}
	if route.Time > 0 {
		if err := extend(w, route.Time+workTime); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), cmp.Or(route.Time, workTime)) // from here on: a caller may take its time to send the body
	defer cancel()
	return e.once(w, r.WithContext(ctx), *route)
}

// enter finds the key that a request carries.
func (e *endpoint) enter(r *http.Request) (account.Key, error) {
	headers := r.Header.Values("Authorization")
	if len(headers) == 0 {
		return account.Key{}, errNoKey
	}
	scheme, secret, _ := strings.Cut(headers[0], " ")
	secret = strings.TrimSpace(secret)
	if len(headers) > 1 || !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return account.Key{}, errNoKey
	}
	ctx, cancel := context.WithTimeout(r.Context(), workTime)
	defer cancel()
	key, err := e.router.Gate.Enter(ctx, secret)
	if errors.Is(err, account.ErrRefused) {
		return account.Key{}, errBadKey
	}
	return key, err
}

// allowed lists the methods of the endpoint.
func (e *endpoint) allowed() []string {
	methods := []string{http.MethodOptions}
	for method := range e.routes {
		methods = append(methods, method)
		if method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	slices.Sort(methods)
	return methods
}

// acceptsJSON says whether a caller that sent these Accept headers can read JSON.
func acceptsJSON(headers []string) bool {
	best, accepted := -1, true // how specific the rule was that decided
	for entry := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		kind, parameters, _ := strings.Cut(entry, ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
		if kind == "" {
			continue
		}
		specific := 0
		switch {
		case kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json") && !isZero(parameters):
			specific = 3
		case kind == "application/*":
			specific = 2
		case kind == "*/*" || kind == "*":
			specific = 1
		}
		if specific >= best {
			accepted, best = specific > 0 && !isZero(parameters), specific
		}
	}
	return accepted
}

// isZero says whether the parameters of a media range hold q=0: "not this one".
func isZero(parameters string) bool {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
		if strings.EqualFold(name, "q") && value != "" && strings.Trim(value, "0.") == "" {
			return true
		}
	}
	return false
}
