// Package beacon is where visits are reported: it serves the tracker and takes what it and other clients send, each in a
// format of its own.
package beacon

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"sightline/internal/account"
	"sightline/internal/collect"
	"sightline/internal/fault"
	"sightline/internal/web/apikit"
)

// gateTime bounds how long a key is looked for. The collector bounds its own work.
const gateTime = 10 * time.Second

// noStore says that an answer is for once. It is shared: nobody may change it.
var noStore = []string{"no-store"}

// A Collector counts hits. *collect.Collector is one.
type Collector interface {
	// Collect says what became of each hit, once they are safe. It fails when none of them is.
	Collect(ctx context.Context, hits []collect.Hit) ([]collect.Outcome, error)
	// Busy says whether there is too much to do, so that a report is not even read.
	Busy() bool
}

// An API serves the tracker and takes reports.
type API struct {
	Collector Collector                      // nil: nothing is counted here
	Gate      *account.Gate                  // for those who report for others
	Client    func(*http.Request) netip.Addr // the address that a request comes from; nil: the peer's
}

// forOthers is what a key must allow that reports for visitors. No key is needed to report one's own visit.
var forOthers = []account.Scope{account.AnalyticsWrite}

// Routes lists what is served. Everybody may call it, from any page.
func (a *API) Routes() []apikit.Route {
	return []apikit.Route{
		{Method: "POST", Path: "/api/event", Open: true, Quiet: true, Scopes: forOthers, Body: ownFields, Serve: a.event},
		{Method: "GET", Path: "/api/event.gif", Open: true, Quiet: true, Scopes: forOthers, Query: ownFields, Serve: a.pixel},
		{Method: "GET", Path: "/js/s.js", Open: true, Quiet: true, Serve: newScript().serve},
	}
}

// A format is how a client reports hits, and the answer that it expects.
type format struct {
	decode func(payload) ([]collect.Hit, error) // a fault.Invalid says which fields are bad
	answer func(http.ResponseWriter, []collect.Outcome)
}

// formatOf tells by its fields in which format a report is.
func formatOf(p payload) format {
	switch {
	case p.has("s"):
		return own
	case p.has("page"):
		return classic
	}
	return plausible
}

// event serves POST /api/event, which three formats share. The content type does not matter: browsers send JSON as
// text/plain, because then they need not ask first.
func (a *API) event(w http.ResponseWriter, r *http.Request) error {
	if a.busy() {
		return fault.Busy
	}
	body, err := readPayload(w, r)
	if err != nil {
		return refuse(w, r, err)
	}
	return a.take(w, r, formatOf(body), body)
}

// busy says whether a report is better not read.
func (a *API) busy() bool { return a.Collector != nil && a.Collector.Busy() }

// take counts what a report says and answers it.
func (a *API) take(w http.ResponseWriter, r *http.Request, f format, body payload) error {
	w.Header()["Cache-Control"] = noStore
	trusted, err := a.trusted(r)
	if err != nil {
		return refuse(w, r, err)
	}
	hits, err := f.decode(body)
	if err != nil {
		return refuse(w, r, err)
	}
	if a.Collector == nil {
		return errNotCounting
	}
	a.complete(r, hits, trusted)
	var outcomes []collect.Outcome
	if len(hits) > 0 {
		if outcomes, err = a.Collector.Collect(r.Context(), hits); err != nil {
			return err
		}
	}
	f.answer(w, outcomes)
	return nil
}

var errNotCounting = apikit.Unavailable("This server counts no visits: it runs with --events none, or was built without cgo.")

// trusted says whether a request may speak for other clients: it carries a key that allows it. One that does not is refused,
// rather than counted as the wrong visitor.
func (a *API) trusted(r *http.Request) (bool, error) {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), gateTime)
	defer cancel()
	key, err := a.Gate.Enter(ctx, strings.TrimSpace(secret))
	switch {
	case errors.Is(err, account.ErrRefused):
		return false, &refusal{status: http.StatusUnauthorized, text: "The API key is not valid."}
	case err != nil:
		return false, err
	case !key.Scopes.Allow(account.AnalyticsWrite):
		return false, &refusal{status: http.StatusForbidden, text: "This API key lacks the scope " + string(account.AnalyticsWrite) + "."}
	}
	apikit.CallOf(r).Key = key // for the log
	return true, nil
}

// complete adds to hits what the request itself tells. The agent and address in a report count only if it is trusted.
func (a *API) complete(r *http.Request, hits []collect.Hit, trusted bool) {
	address := a.address(r, trusted)
	for i := range hits {
		hit := &hits[i]
		if !trusted || hit.Agent == "" {
			hit.Agent = strings.ToValidUTF8(r.UserAgent(), "\ufffd")
		}
		if !trusted || !hit.Address.IsValid() {
			hit.Address = address
		}
		hit.Language = language(r.Header.Get("Accept-Language"))
		hit.Speculative = speculative(r.Header)
	}
}

// address is where the visitor is. A program that may speak for others names it first in X-Forwarded-For.
func (a *API) address(r *http.Request, trusted bool) netip.Addr {
	if trusted {
		first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-For"), ",")
		if address, err := netip.ParseAddr(strings.TrimSpace(first)); err == nil {
			return address.Unmap().WithZone("")
		}
	}
	if a.Client != nil {
		return a.Client(r)
	}
	peer, _ := netip.ParseAddrPort(r.RemoteAddr) // none for a peer without an address, such as a socket's
	return peer.Addr().Unmap().WithZone("")
}

// maxLanguage is longer than any language that browsers name.
const maxLanguage = 35

// language is the first in an Accept-Language header, such as en-US.
func language(header string) string {
	first, _, _ := strings.Cut(header, ",")
	first, _, _ = strings.Cut(first, ";")
	first = strings.TrimSpace(first)
	odd := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-'
	}
	if len(first) > maxLanguage || strings.ContainsFunc(first, odd) {
		return ""
	}
	return first
}

// speculative says whether a browser asks ahead, for a page that a person may never open.
func speculative(header http.Header) bool {
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Moz", "X-Purpose"} {
		value := strings.ToLower(header.Get(name))
		if strings.Contains(value, "prefetch") || strings.Contains(value, "prerender") || strings.Contains(value, "preview") {
			return true
		}
	}
	return false
}
