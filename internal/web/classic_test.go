package web_test

import (
	"fmt"
	"testing"
)

// The older interface: values and counts in a flat list.
func TestClassicStats(t *testing.T) {
	s := november(t)
	tests := []struct{ query, data string }{
		{"name=page", `[{"value":"/","count":3},{"value":"/blog/a","count":1}]`},
		{"name=page&from=2026-11-11&to=2026-11-11", `[{"value":"/","count":1}]`},
		{"name=page&sort=asc", `[{"value":"/blog/a","count":1},{"value":"/","count":3}]`},
		{"name=page&sort_by=value&sort=asc", `[{"value":"/","count":3},{"value":"/blog/a","count":1}]`},
		{"name=page&search=BLOG&search_by=value", `[{"value":"/blog/a","count":1}]`},
		{"name=landing_page", `[{"value":"/","count":3}]`},
		{"name=country", `[{"value":"AT:Austria","count":1},{"value":"DE:Germany","count":1},{"value":"US:United States","count":1}]`},
		{"name=country&search=united", `[{"value":"US:United States","count":1}]`},
		{"name=country&sort_by=value", `[{"value":"US:United States","count":1},{"value":"DE:Germany","count":1},{"value":"AT:Austria","count":1}]`},
		{"name=continent", `[{"value":"EU:Europe","count":2},{"value":"NA:North America","count":1}]`},
		{"name=city", `[{"value":"","count":2},{"value":"DE:Berlin, BE","count":1}]`},
		{"name=language", `[{"value":"de","count":2},{"value":"en","count":1}]`},
		{"name=browser", `[{"value":"Chrome","count":1},{"value":"Firefox","count":1},{"value":"Safari","count":1}]`},
		{"name=event", `[{"value":"signup","count":1}]`},
		{"name=pageviews", `[{"value":"2026-11-10","count":3},{"value":"2026-11-11","count":1}]`},
		{"name=visitors&sort_by=value&sort=asc", `[{"value":"2026-11-10","count":2},{"value":"2026-11-11","count":1}]`},
		{"name=pageviews_hour", `[{"value":"10","count":2},{"value":"00","count":1},{"value":"23","count":1}]`},
		{"name=visitors_hour&timezone=Europe/Berlin&sort_by=value&sort=asc", `[{"value":"00","count":1},{"value":"01","count":1},{"value":"11","count":1}]`},
		{"name=campaign", `[]`},
		{"name=os", `[{"value":"","count":3}]`},
		{"name=device", `[{"value":"","count":3}]`},
		{"name=resolution", `[{"value":"","count":3}]`},
		{"name=referrer", `[{"value":"","count":3}]`},
	}
	for _, test := range tests {
		s.want(s.form("GET", s.analytics+"/api/v1/stats/1?"+test.query, ""), 200, `"data":`+test.data)
	}
	address := s.analytics + "/api/v1/stats/1"
	got := s.want(s.form("GET", address+"?name=landing_page", ""), 200)
	want := fmt.Sprintf(`{"current_page":1,"data":[{"value":"/","count":3}],"first_page_url":"%[1]s?name=landing_page&page=1","from":1,"last_page":1,`+
		`"last_page_url":"%[1]s?name=landing_page&page=1","next_page_url":null,"path":"%[1]s","per_page":10,"prev_page_url":null,"to":1,"total":1,"status":200}`+"\n", address)
	if got.body != want {
		t.Errorf("got  %swant %s", got.body, want)
	}
	s.want(s.form("GET", address+"?name=page&per_page=100&page=1000000", ""), 200, `"data":[]`, `"total":2`)
	s.want(s.form("GET", address+"?name=pageviews&page=2", ""), 200, `"current_page":2,"data":[]`, `"prev_page_url":"`+address+`?name=pageviews&page=1"`, `"from":null`, `"to":null`, `"total":2`)
}

func TestClassicPages(t *testing.T) {
	s := counting(t)
	for i := range 25 {
		s.keep(view(t, "2026-11-14T08:00:00Z", uint64(i+1), fmt.Sprintf("/%02d", i), ""))
	}
	for _, query := range []string{"?name=page&sort_by=value&sort=asc&page=3", "?name=page&sort_by=value&sort=asc&page=2&per_page=20"} {
		s.want(s.form("GET", s.analytics+"/api/v1/stats/1"+query, ""), 200, `"data":[{"value":"/20","count":1},{"value":"/21","count":1},{"value":"/22","count":1},{"value":"/23","count":1},{"value":"/24","count":1}]`, `"to":25,"total":25`)
	}
}

func TestClassicStatsRefused(t *testing.T) {
	s := counting(t)
	address := s.analytics + "/api/v1/stats/1"
	s.want(s.form("GET", address, ""), 422, `"name":["must be one of browser, campaign, city, continent, country, device, event, landing_page, language, os, page, pageviews, pageviews_hour, referrer, resolution, visitors, visitors_hour"]`)
	s.want(s.form("GET", address+"?name=colour&from=x&to=y&timezone=z&search_by=count&sort_by=name&sort=up&per_page=9&page=0", ""), 422,
		`"name":[`, `"from":[`, `"to":[`, `"timezone":[`, `"search_by":[`, `"sort_by":[`, `"sort":[`, `"per_page":[`, `"page":[`)
	s.want(s.form("GET", address+"?name=visitors_hour&from=2020-01-01", ""), 422, `"from":["must be at most 400 days before to for hours`)
	s.want(s.form("GET", address+"?name=visitors&from=1990-01-01", ""), 422, `"from":[`)
	s.want(s.form("GET", s.analytics+"/api/v1/stats/0?name=page", ""), 404)
}
