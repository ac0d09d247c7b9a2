package beacon

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"

	"sightline/internal/collect"
	"sightline/internal/fault"
)

// ownFields are the fields of our format.
var ownFields = []string{"s", "n", "u", "r", "w", "p", "v", "e", "d", "h", "ua", "ip"}

// own is the format of our tracker: s tracking id, n name, u address of the page, r referrer, w width of the screen, p
// properties, v value, e milliseconds in view, d percent read, h the fragment is part of the page. A program that reports
// for others adds ua, the visitor's agent, and ip, the visitor's address.
var own = format{decodeOwn, answerOwn}

// decodeOwn reads a report strictly: whoever writes one by hand should learn of mistakes.
func decodeOwn(p payload) ([]collect.Hit, error) {
	bad := fault.Invalid{}
	read := func(name string) string {
		value, ok := text(p.find(name))
		if !ok && p.has(name) {
			bad.Add(name, "must be text")
		}
		return value
	}
	hit := collect.Hit{Site: read("s"), Name: cmp.Or(read("n"), collect.Pageview), URL: read("u"), Referrer: read("r"), Screen: read("w"),
		HashMode: flag(p.find("h")), Agent: read("ua")}
	if hit.Site == "" {
		bad.Add("s", "must be the tracking id of a website")
	}
	if utf8.RuneCountInString(hit.Name) > maxName {
		bad.Add("n", fmt.Sprintf("must be at most %d characters", maxName))
	}
	ok := true
	check := func(name string) {
		if !ok && p.has(name) {
			bad.Add(name, "must be a number")
		}
	}
	hit.Value, ok = number(p.find("v"))
	check("v")
	hit.Engagement, ok = inView(p.find("e"))
	check("e")
	hit.Depth, ok = percent(p.find("d"))
	check("d")
	var err error
	if hit.Props, err = properties(p.find("p")); err != nil {
		bad.Add("p", err.Error())
	}
	if len(hit.Props) > maxProps {
		bad.Add("p", fmt.Sprintf("must have at most %d entries", maxProps))
	}
	if address := read("ip"); address != "" {
		if hit.Address, err = netip.ParseAddr(address); err != nil {
			bad.Add("ip", "must be an IP address")
		}
		hit.Address = hit.Address.Unmap().WithZone("")
	}
	return []collect.Hit{hit}, bad.OrNil()
}

// answerOwn answers 202. A header says why a hit was not counted.
func answerOwn(w http.ResponseWriter, outcomes []collect.Outcome) {
	noteDropped(w, outcomes)
	writeText(w, http.StatusAccepted, "ok")
}

func noteDropped(w http.ResponseWriter, outcomes []collect.Outcome) {
	if reason := outcomes[0].Dropped; reason != "" {
		expose(w, "X-Sightline-Dropped", string(reason))
	}
}

// expose sets a header that scripts of other sites can read.
func expose(w http.ResponseWriter, name, value string) {
	w.Header().Set(name, value)
	w.Header().Set("Access-Control-Expose-Headers", "X-Request-Id, "+name)
}

// pixelFormat is our format in a query, answered with a picture.
var pixelFormat = format{decodeOwn, func(w http.ResponseWriter, outcomes []collect.Outcome) {
	noteDropped(w, outcomes)
	writePixel(w)
}}

// pixel serves GET /api/event.gif, for browsers without scripts: the page is u or, without it, where the picture is shown.
func (a *API) pixel(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodHead {
		w.Header().Set("Cache-Control", "no-store")
		writePixel(w)
		return nil
	}
	if a.busy() {
		return fault.Busy
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return refuse(w, r, malformed("The query string is malformed."))
	}
	body, err := pixelPayload(query, r.Referer())
	if err != nil {
		return refuse(w, r, err)
	}
	return a.take(w, r, pixelFormat, body)
}

// pixelPayload is a query as a report.
func pixelPayload(query url.Values, referer string) (payload, error) {
	if !query.Has("u") {
		query.Set("u", referer)
	}
	var body payload
	for name, values := range query {
		if len(values) > 1 && slices.Contains(ownFields, name) {
			return nil, fault.Field(name, "must be sent once")
		}
		raw, err := json.Marshal(query.Get(name))
		if err != nil {
			return nil, fmt.Errorf("read the query: %w", err)
		}
		body = append(body, field{[]byte(name), raw})
	}
	return body, nil
}

// gif is a transparent picture of one pixel.
const gif = "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"

func writePixel(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "image/gif")
	w.Header().Set("Content-Length", strconv.Itoa(len(gif)))
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	w.Write([]byte(gif)) // fails when the caller has gone: nobody is left to tell
}
