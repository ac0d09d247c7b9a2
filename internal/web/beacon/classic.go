package beacon

import (
	"io"
	"net/http"
	"unicode/utf8"

	"sightline/internal/collect"
)

// classic is the format of the script that sites bring along from elsewhere: page, referrer, screen_resolution, and for an
// event name, value and unit. It always gets 200; the body says what that means.
var classic = format{decodeClassic, answerClassic}

// Limits of a classic event.
const (
	maxDigits = 10 // of its value
	maxUnit   = 32 // characters of its unit
)

// decodeClassic reads a report. The website is found by the host of the page. A value or unit that is not valid is left out;
// an event without a name is nothing to count.
func decodeClassic(p payload) ([]collect.Hit, error) {
	hit := collect.Hit{Name: collect.Pageview}
	hit.URL, _ = text(p.first("page"))
	hit.Referrer, _ = text(p.first("referrer"))
	hit.Screen, _ = text(p.first("screen_resolution"))
	if p.has("event") {
		event, err := parsePayload(p.find("event"))
		if err != nil {
			return nil, nil
		}
		hit.Name, _ = text(event.first("name"))
		if hit.Name == "" || utf8.RuneCountInString(hit.Name) > maxName {
			return nil, nil
		}
		if written, _ := text(event.first("value")); len(written) <= maxDigits {
			if value, ok := number(event.first("value")); ok && value > 0 {
				hit.Value = value
			}
		}
		if unit, _ := text(event.first("unit")); utf8.RuneCountInString(unit) <= maxUnit {
			hit.Unit = unit
		}
	}
	return []collect.Hit{hit}, nil
}

// answerClassic writes 200, 403 (not counted) or 404 (no such website) as the body.
func answerClassic(w http.ResponseWriter, outcomes []collect.Outcome) {
	body := "200"
	switch {
	case len(outcomes) == 0:
		body = "403"
	case outcomes[0].NoWebsite():
		body = "404"
	case !outcomes[0].Stored():
		body = "403"
	}
	writeText(w, http.StatusOK, body)
}

// plainText is the content type of short answers. It is shared: nobody may change it.
var plainText = []string{"text/plain; charset=utf-8"}

func writeText(w http.ResponseWriter, status int, body string) {
	w.Header()["Content-Type"] = plainText
	w.WriteHeader(status)
	io.WriteString(w, body) // fails when the caller has gone: nobody is left to tell
}
