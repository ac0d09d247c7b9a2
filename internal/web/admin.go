package web

import (
	"errors"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"net/url"
	"strings"
)

// ListenAdmin binds a door for the person who runs the program, at host:port: metrics, profiles of the running program, and
// a sign of life. Nobody is asked for a key there, so the address must be a loopback one, and requests that name another
// host are refused: a page that made its own name mean this machine sent them.
func ListenAdmin(address string, metrics http.Handler) (*Door, error) {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)          // without cmdline: flags may hold a password
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile) // it moves the limit on the answer by what was asked for
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("ok\n")) })
	door := &Door{admin: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocal(r.Host) {
			http.Error(w, "ask for this by a loopback address or as localhost", http.StatusMisdirectedRequest)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		mux.ServeHTTP(w, r)
	})}
	place := Place{Listen: address}
	if host, _, err := net.SplitHostPort(address); err == nil && strings.EqualFold(host, "localhost") {
		place = Place{URL: &url.URL{Scheme: "http", Host: strings.ToLower(address)}} // both of its addresses
	}
	if err := door.bind(place.addresses(), "--admin-listen"); err != nil {
		return nil, errors.Join(err, CloseDoors([]*Door{door}))
	}
	return door, nil
}

// isLocal says whether a Host header names this machine to itself.
func isLocal(header string) bool {
	name, _, err := net.SplitHostPort(header)
	if err != nil {
		name = strings.Trim(header, "[]")
	}
	addr, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && addr.IsLoopback()
}
