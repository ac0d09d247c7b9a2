// Package checktest makes websites with known defects: as values, as a handler to serve, and as the crawl that they give.
package checktest

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"sightline/internal/check/facts"
)

// A Site is a website whose defects are known.
type Site struct {
	Start   string              // the address of its first page
	Answers map[string]Answer   // by address
	Other   map[string]Answer   // by host: the answer of every further address; without one it is 404
	Plants  map[string][]string // by check: the addresses that fail it
}

// An Answer is what the server says to one address.
type Answer struct {
	Status   int // 0: 200
	Location string
	Header   map[string]string
	Type     string // empty: HTML in UTF-8
	Body     string
	Wait     time.Duration // before the first byte
	Drop     bool          // the connection is cut instead
}

// Hosts are the names under which the site and its neighbours answer, over http and https. Other names have no address.
func (s *Site) Hosts() []string {
	hosts := map[string]bool{}
	for address := range s.Answers {
		if u, err := url.Parse(address); err == nil {
			hosts[u.Host] = true
		}
	}
	return slices.Sorted(maps.Keys(hosts))
}

// ServeHTTP answers as the site does, for all of its hosts and both schemes.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	answer := s.answer(scheme + "://" + r.Host + r.URL.RequestURI())
	time.Sleep(answer.Wait)
	if answer.Drop {
		panic(http.ErrAbortHandler)
	}
	for name, values := range answer.header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Status)
	if _, err := w.Write([]byte(answer.Body)); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// answer is what the server says to an address.
func (s *Site) answer(address string) Answer {
	answer, known := s.Answers[address]
	if !known {
		u, err := url.Parse(address)
		if err != nil {
			return Answer{Status: http.StatusBadRequest}
		}
		answer, known = s.Other[u.Host]
	}
	switch {
	case !known:
		answer = Answer{Status: http.StatusNotFound, Body: "Not found"}
	case answer.Status == 0:
		answer.Status = http.StatusOK
	}
	return answer
}

func (a *Answer) header() http.Header {
	header := http.Header{}
	header.Set("Content-Type", "text/html; charset=utf-8")
	if a.Type != "" {
		header.Set("Content-Type", a.Type)
	}
	if a.Location != "" {
		header.Set("Location", a.Location)
	}
	for name, value := range a.Header {
		header.Set(name, value)
	}
	return header
}

// Addresses reads the references of a site of one host.
type Addresses struct{ Host string }

// From is a facts.From.
func (a Addresses) From(base string) facts.Resolve {
	page, err := url.Parse(base)
	return func(reference string) (string, bool, bool) {
		if err != nil {
			return "", false, false
		}
		to, err := page.Parse(reference)
		if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
			return "", false, false
		}
		to.Fragment, to.RawFragment = "", ""
		if to.Path == "" {
			to.Path = "/"
		}
		return to.String(), to.Host == a.Host, true
	}
}
