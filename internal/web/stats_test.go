package web_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
)

// at is a moment, written in RFC 3339.
func at(t testing.TB, text string) time.Time {
	t.Helper()
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

// view is a page view of a visitor, whose visit has the same number.
func view(t testing.TB, moment string, visitor uint64, page, country string) analytics.Event {
	t.Helper()
	return analytics.Event{Website: 1, At: at(t, moment), Visitor: visitor, Visit: visitor, Kind: analytics.PageView, Page: page,
		Place: analytics.Place{Country: country}}
}

// keep stores events.
func (s *server) keep(events ...analytics.Event) {
	s.Helper()
	if err := s.events.Append(s.Context(), analytics.Batch{Events: events}); err != nil {
		s.Fatal(err)
	}
}

// counting is a server with website 1 and no events.
func counting(t *testing.T) *server {
	t.Helper()
	s := serve(t, "", t.TempDir())
	s.want(s.form("POST", s.analytics+"/api/v1/websites", "url=https://example.com"), 201)
	return s
}

// november is three visits in November and one in October.
func november(t *testing.T) *server {
	t.Helper()
	s := counting(t)
	first := view(t, "2026-11-10T10:00:00Z", 1, "/", "DE")
	first.Source, first.Channel, first.Browser, first.City, first.Region, first.Language = "Google", "search", "Firefox", "Berlin", "BE", "de"
	second := first
	second.At, second.Page = at(t, "2026-11-10T10:01:00Z"), "/blog/a"
	read := second
	read.At, read.Kind, read.Engagement, read.Depth = at(t, "2026-11-10T10:02:00Z"), analytics.Engagement, 30*time.Second, 80
	late := view(t, "2026-11-10T23:30:00Z", 2, "/", "AT")
	late.Browser, late.Language = "Safari", "de-AT"
	other := view(t, "2026-11-11T00:30:00Z", 3, "/", "US")
	other.Browser, other.Language = "Chrome", "en"
	signup := other
	signup.At, signup.Kind, signup.Name, signup.Value, signup.Unit = at(t, "2026-11-11T00:31:00Z"), analytics.Custom, "signup", 5, "EUR"
	signup.Props = map[string]string{"plan": "pro|2", "a:b": "x:y"}
	foreign := view(t, "2026-11-10T10:00:00Z", 9, "/secret", "FR")
	foreign.Website = 2
	s.keep(first, second, read, late, other, signup, foreign, view(t, "2026-10-10T10:00:00Z", 4, "/", "DE"))
	return s
}

func TestStats(t *testing.T) {
	s := november(t)
	tests := []struct{ query, data, totals string }{
		{"", `[{"visitors":3,"pageviews":4}]`, `{"visitors":3,"pageviews":4}`},
		{"metrics=visitors,visits,pageviews,views_per_visit,bounce_rate,visit_duration,events,event_value,scroll_depth",
			`[{"visitors":3,"visits":3,"pageviews":4,"views_per_visit":1.33,"bounce_rate":33.33,"visit_duration":60,"events":1,"event_value":5,"scroll_depth":80}]`, ""},
		{"by=page", `[{"page":"/","visitors":3,"pageviews":3},{"page":"/blog/a","visitors":1,"pageviews":1}]`, `{"visitors":3,"pageviews":4}`},
		{"by=page&sort=visitors:asc", `[{"page":"/blog/a","visitors":1,"pageviews":1},{"page":"/","visitors":3,"pageviews":3}]`, ""},
		{"by=page&sort=page:desc&metrics=visits", `[{"page":"/blog/a","visits":1},{"page":"/","visits":3}]`, ""},
		{"by=page&sort=asc&metrics=visits", `[{"page":"/blog/a","visits":1},{"page":"/","visits":3}]`, ""},
		{"by=page&limit=1&page=2", `[{"page":"/blog/a","visitors":1,"pageviews":1}]`, `{"visitors":3,"pageviews":4}`},
		{"by=page&search=BLOG", `[{"page":"/blog/a","visitors":1,"pageviews":1}]`, `{"visitors":3,"pageviews":4}`},
		{"by=country&metrics=visitors", `[{"country":"AT","visitors":1},{"country":"DE","visitors":1},{"country":"US","visitors":1}]`, ""},
		{"by=country&metrics=visitors&filter=country:is:DE|AT", `[{"country":"AT","visitors":1},{"country":"DE","visitors":1}]`, `{"visitors":2}`},
		{"by=country&metrics=visitors&filter=country:is:DE|AT&filter=page:contains:/blog", `[{"country":"DE","visitors":1}]`, `{"visitors":1}`},
		{"by=country&metrics=visitors&filter=country:is_not:US&filter=page:matches:/bl*", `[{"country":"DE","visitors":1}]`, `{"visitors":1}`},
		{"by=source&metrics=visitors&sort=source", `[{"source":"","visitors":2},{"source":"Google","visitors":1}]`, ""},
		{"metrics=visitors&filter=source:is:", `[{"visitors":2}]`, ""},
		{"by=event&metrics=events,event_value", `[{"event":"signup","events":1,"event_value":5}]`, ""},
		{"by=prop:plan&metrics=events", `[{"prop:plan":"pro|2","events":1}]`, ""},
		{"by=prop:plan&metrics=events&sort=prop:plan:desc", `[{"prop:plan":"pro|2","events":1}]`, ""},
		{"metrics=events&filter=" + url.QueryEscape(`prop:plan:is:free|pro\|2`), `[{"events":1}]`, ""},
		{"metrics=events&filter=" + url.QueryEscape("prop:a:b:is:x:y"), `[{"events":1}]`, ""},
		{"by=entry_page&metrics=visits", `[{"entry_page":"/","visits":3}]`, ""},
		{"by=day&from=2026-11-09&to=2026-11-12", `[{"day":"2026-11-09","visitors":0,"pageviews":0},{"day":"2026-11-10","visitors":2,"pageviews":3},` +
			`{"day":"2026-11-11","visitors":1,"pageviews":1},{"day":"2026-11-12","visitors":0,"pageviews":0}]`, `{"visitors":3,"pageviews":4}`},
		{"by=day&from=2026-11-10&to=2026-11-11&timezone=Europe/Berlin&metrics=pageviews", `[{"day":"2026-11-10","pageviews":2},{"day":"2026-11-11","pageviews":2}]`, `{"pageviews":4}`},
		{"by=time&interval=week&from=2026-11-09&to=2026-11-12&metrics=visits", `[{"time":"2026-11-09","visits":3}]`, ""},
		{"by=month&from=2mo&metrics=visits", `[{"month":"2026-10-01","visits":1},{"month":"2026-11-01","visits":3}]`, `{"visits":4}`},
		{"by=day&from=2026-11-10&to=2026-11-11&metrics=visits&sort=visits:asc", `[{"day":"2026-11-11","visits":1},{"day":"2026-11-10","visits":2}]`, ""},
		{"from=today&metrics=visits", `[{"visits":0}]`, `{"visits":0}`},
		{"from=5d&metrics=visits", `[{"visits":3}]`, ""},
		{"from=4d&metrics=visits", `[{"visits":1}]`, ""},
		{"to=2026-11-08&metrics=visits", `[{"visits":1}]`, ""},
	}
	for _, test := range tests {
		got := s.want(s.form("GET", s.analytics+"/api/v1/websites/1/stats?"+test.query, ""), 200, `"data":`+test.data+`,"totals":`+test.totals)
		if strings.Contains(got.body, "secret") {
			t.Errorf("%s shows another website: %s", test.query, got.body)
		}
	}
}

// The answer says how the question was understood, and pages as lists do.
func TestStatsAnswer(t *testing.T) {
	s := november(t)
	address := s.analytics + "/api/v1/websites/1/stats"
	got := s.want(s.form("GET", address+"?by=page&limit=1&filter=country:is:DE%7CUS&filter=browser:is_not:Opera&from=7d", ""), 200)
	want := fmt.Sprintf(`{"data":[{"page":"/","visitors":2,"pageviews":2}],"totals":{"visitors":2,"pageviews":3},"compare":null,`+
		`"query":{"from":"2026-11-08","to":"2026-11-14","timezone":"UTC","metrics":["visitors","pageviews"],"by":"page","interval":null,`+
		`"filter":["country:is:DE|US","browser:is_not:Opera"],"compare":null,"sort":"visitors:desc","search":null},`+
		`"links":{"first":"%[1]s?%[2]spage=1","last":"%[1]s?%[2]spage=2","prev":null,"next":"%[1]s?%[2]spage=2"},`+
		`"meta":{"current_page":1,"from":1,"last_page":2,"path":"%[1]s","per_page":1,"to":1,"total":2},"status":200}`+"\n",
		address, "by=page&limit=1&filter=country%3Ais%3ADE%7CUS&filter=browser%3Ais_not%3AOpera&from=7d&")
	if got.body != want {
		t.Errorf("got  %swant %s", got.body, want)
	}
	s.want(s.form("GET", address+"?by=time&from=today", ""), 200, `"interval":"hour"`, `"total":24`, `"per_page":10000`, `"sort":"time:asc"`)
	s.want(s.form("GET", address+"?by=time&from=12mo", ""), 200, `"from":"2025-12-01"`, `"interval":"month"`, `"total":12`)
	s.want(s.form("GET", address+"?by=time", ""), 200, `"from":"2026-10-16"`, `"interval":"day"`, `"total":30`)
	s.want(s.form("GET", address+"?by=page&limit=10000&page=1000000", ""), 200, `"data":[]`, `"total":2`)
	if got := s.want(s.form("GET", address+"?by=page&per_page=1&page=3", ""), 200, `"data":[]`, `"from":null`); got.field("meta.total") != 2.0 {
		t.Errorf("past the end: %s", got.body)
	}
}

func TestStatsCompared(t *testing.T) {
	s := november(t)
	tests := []struct{ query, compare string }{
		{"compare=previous_period", `{"from":"2026-09-16","to":"2026-10-15","totals":{"visitors":1,"pageviews":1},"data":[{"visitors":1,"pageviews":1}]}`},
		{"compare=previous_period&by=page&metrics=pageviews",
			`{"from":"2026-09-16","to":"2026-10-15","totals":{"pageviews":1},"data":[{"page":"/","pageviews":1},{"page":"/blog/a","pageviews":0}]}`},
		{"compare=previous_period&by=page&metrics=pageviews&limit=1&page=2",
			`{"from":"2026-09-16","to":"2026-10-15","totals":{"pageviews":1},"data":[{"page":"/blog/a","pageviews":0}]}`},
		{"compare=previous_year&from=2026-11-10&to=2026-11-11&metrics=visits", `{"from":"2025-11-10","to":"2025-11-11","totals":{"visits":0},"data":[{"visits":0}]}`},
		{"compare=previous_year&from=2024-02-29&to=2024-02-29&metrics=visits", `{"from":"2023-02-28","to":"2023-02-28","totals":{"visits":0},"data":[{"visits":0}]}`},
		{"compare=2026-10-10..2026-10-10&by=day&from=2026-11-10&to=2026-11-11&metrics=visits",
			`{"from":"2026-10-10","to":"2026-10-10","totals":{"visits":1},"data":[{"day":"2026-10-10","visits":1},null]}`},
		{"compare=2026-10-10..2026-10-11&by=day&from=2026-11-10&to=2026-11-11&metrics=visits&sort=visits:asc", // the rows turned round
			`{"from":"2026-10-10","to":"2026-10-11","totals":{"visits":1},"data":[{"day":"2026-10-11","visits":0},{"day":"2026-10-10","visits":1}]}`},
		{"compare=previous_period&by=utm_term&metrics=visits", `{"from":"2026-09-16","to":"2026-10-15","totals":{"visits":1},"data":[]}`},
	}
	for _, test := range tests {
		s.want(s.form("GET", s.analytics+"/api/v1/websites/1/stats?"+test.query, ""), 200, `"compare":`+test.compare+`,"query":`)
	}
}

// Days with 23 and 25 hours have a row for each hour that takes place, and no event is lost or counted twice.
func TestStatsOverClockChanges(t *testing.T) {
	s := counting(t)
	for i := range 50 { // every half hour of 25 October, which has 25 hours in Berlin
		s.keep(view(t, at(t, "2026-10-24T22:10:00Z").Add(time.Duration(i)*30*time.Minute).Format(time.RFC3339), uint64(i+1), "/", "DE"))
	}
	for i := range 46 { // and of 29 March, which has 23
		s.keep(view(t, at(t, "2026-03-28T23:10:00Z").Add(time.Duration(i)*30*time.Minute).Format(time.RFC3339), uint64(i+100), "/", "DE"))
	}
	for _, test := range []struct {
		day, some string
		hours     float64
	}{
		{"2026-10-25", `{"hour":"2026-10-25T02:00:00+02:00","pageviews":2},{"hour":"2026-10-25T02:00:00+01:00","pageviews":2}`, 25},
		{"2026-03-29", `{"hour":"2026-03-29T01:00:00+01:00","pageviews":2},{"hour":"2026-03-29T03:00:00+02:00","pageviews":2}`, 23},
	} {
		query := "?metrics=pageviews&timezone=Europe/Berlin&from=" + test.day + "&to=" + test.day
		got := s.want(s.form("GET", s.analytics+"/api/v1/websites/1/stats"+query+"&by=hour", ""), 200, test.some, fmt.Sprintf(`"totals":{"pageviews":%v}`, 2*test.hours))
		if got.field("meta.total") != test.hours {
			t.Errorf("%s has %v hours, want %v", test.day, got.field("meta.total"), test.hours)
		}
		var body struct{ Data []struct{ Pageviews int } }
		if err := json.Unmarshal([]byte(got.body), &body); err != nil {
			t.Fatal(err)
		}
		for i, row := range body.Data {
			if row.Pageviews != 2 {
				t.Errorf("%s: hour %d has %d page views, want 2", test.day, i, row.Pageviews)
			}
		}
		s.want(s.form("GET", s.analytics+"/api/v1/websites/1/stats"+query+"&by=day", ""), 200, fmt.Sprintf(`[{"day":"%s","pageviews":%v}]`, test.day, 2*test.hours))
	}
	s.want(s.form("GET", s.analytics+"/api/v1/stats/1?name=pageviews_hour&from=2026-10-25&to=2026-10-25&timezone=Europe/Berlin&sort_by=count", ""), 200, `"data":[{"value":"02","count":4}`, `"total":24`)
}

// Every bad parameter is named at once, with what is allowed.
func TestStatsRefused(t *testing.T) {
	s := counting(t)
	address := s.analytics + "/api/v1/websites/1/stats"
	s.want(s.form("GET", address+"?metrics=visitors,hits&by=colour&filter=colour:is:red&filter=page:like:x&from=soon&to=2026-02-30&timezone=Mars/Base&compare=never&limit=0&page=0&sort=up:side&search="+strings.Repeat("x", 201), ""), 422,
		`"metrics":["has \"hits\", which is none of visitors, visits, pageviews,`, `"by":["must be one of time, minute, hour, day, week, month, page,`, `prop:NAME"]`,
		`"filter":["has the dimension \"colour\", which is none of page,`, `has the operator \"like\", which is none of is, is_not, contains, matches"`,
		`"from":["must be a day such as 2026-11-01, or today,`, `"to":["must be a day such as`, `"timezone":["must be the name of a time zone such as`,
		`"compare":["must be previous_period, previous_year, or two days such as`, `"limit":[`, `"page":[`, `"sort":["must be one of the metrics`, `"search":[`)
	for query, field := range map[string]string{
		"filter=page":                             "filter",
		"filter=prop:plan:like:x":                 "filter",
		"filter=page:is:%00":                      "filter",
		"filter=page:is:/&filter=page:is:%0a":     "filter",
		"from=0d":                                 "from",
		"from=1969-12-31":                         "from",
		"from=99999d":                             "from",
		"from=9999mo":                             "from",
		"from=2026-1-1":                           "from",
		"from=7d&to=2026-11-14":                   "to",
		"from=2026-11-14&to=2026-11-13":           "to",
		"timezone=Local":                          "timezone",
		"timezone=../../etc/passwd":               "timezone",
		"by=day&interval=hour":                    "interval",
		"by=page&interval=hour":                   "interval",
		"by=time&interval=year":                   "interval",
		"by=minute":                               "interval", // of 30 days
		"by=prop:":                                "by",
		"by=Page":                                 "by",
		"metrics=visitors,visitors":               "metrics",
		"metrics=,":                               "metrics",
		"sort=visits":                             "sort",
		"by=page&sort=country":                    "sort",
		"sort=visitors:":                          "sort",
		"sort=:asc":                               "sort",
		"limit=10&per_page=10":                    "per_page",
		"limit=10001":                             "limit",
		"by=page&compare=previous_year&limit=101": "limit",
		"compare=2026-10-31..2026-10-01":          "compare",
		"compare=2026-10-31":                      "compare",
		"by=hour&from=7d&compare=2020-01-01..2026-01-01":      "compare",
		"from=1970-01-02&to=1970-01-05&compare=previous_year": "compare",
		"by=page&by=country": "by",
		"page=1000001":       "page",
	} {
		got := s.want(s.form("GET", address+"?"+query, ""), 422)
		if named, _ := got.field("errors").(map[string]any); len(named) != 1 || named[field] == nil {
			t.Errorf("%s: want %s alone to be named: %s", query, field, got.body)
		}
	}
}

// The zone of the account counts when a request names none.
func TestStatsInTheZoneOfTheAccount(t *testing.T) {
	s := counting(t)
	for zone, days := range map[string]string{
		"Europe/Berlin": `[{"day":"2026-11-10","visits":0},{"day":"2026-11-11","visits":1}]`,
		"never checked": `[{"day":"2026-11-10","visits":1},{"day":"2026-11-11","visits":0}]`, // counts as UTC
	} {
		owner := account.New(zone[:5]+"@example.com", start)
		owner.Timezone = zone
		site := analytics.NewWebsite(0, start)
		err := errors.Join(s.catalog.CreateAccount(t.Context(), &owner), site.SetURL("https://example.com"))
		site.AccountID = owner.ID
		if err := errors.Join(err, s.catalog.CreateWebsite(t.Context(), &site, nil)); err != nil {
			t.Fatal(err)
		}
		late := view(t, "2026-11-10T23:30:00Z", 2, "/", "AT")
		late.Website = site.ID
		s.keep(late)
		key := "Authorization: Bearer " + s.newKey(owner.ID, account.AllScopes(), time.Time{})
		s.want(s.do("GET", fmt.Sprintf("%s/api/v1/websites/%d/stats?by=day&from=2026-11-10&to=2026-11-11&metrics=visits", s.analytics, site.ID), "", key), 200, days)
	}
}

func TestRealtime(t *testing.T) {
	s := counting(t)
	now := view(t, "2026-11-14T09:29:59Z", 1, "/now", "")
	now.Source = "Google"
	again := now
	again.At = at(t, "2026-11-14T09:26:00Z")
	s.keep(now, again, view(t, "2026-11-14T09:30:00Z", 2, "/now", ""), view(t, "2026-11-14T09:24:00Z", 3, "/before", ""), view(t, "2026-11-14T09:00:00Z", 4, "/long ago", ""))
	got := s.want(s.form("GET", s.analytics+"/api/v1/websites/1/realtime", ""), 200, `{"data":{"visitors":2,"minutes":[{"minute":"2026-11-14T09:01:00Z","pageviews":0},`,
		`{"minute":"2026-11-14T09:24:00Z","pageviews":1}`, `{"minute":"2026-11-14T09:29:00Z","pageviews":1},{"minute":"2026-11-14T09:30:00Z","pageviews":1}],`,
		`"pages":[{"page":"/now","visitors":2,"pageviews":3}],"sources":[{"source":"","visitors":1},{"source":"Google","visitors":1}]},"status":200}`)
	if minutes := strings.Count(got.body, `"minute":`); minutes != 30 {
		t.Errorf("%d minutes, want 30", minutes)
	}
}

func TestExclusions(t *testing.T) {
	s := counting(t)
	drops := []analytics.Drop{
		{Website: 1, At: at(t, "2026-11-13T10:00:00Z"), Reason: "bot", Page: "/", Agent: "Examplebot/1.0 <script>"},
		{Website: 1, At: at(t, "2026-11-14T09:00:00Z"), Reason: "ip", Page: "/a"},
		{Website: 1, At: at(t, "2026-11-14T09:10:00Z"), Reason: "bot", Page: "/b"},
		{Website: 1, At: at(t, "2026-10-01T09:10:00Z"), Reason: "bot", Page: "/old"},
		{Website: 2, At: at(t, "2026-11-14T09:10:00Z"), Reason: "bot", Page: "/secret"},
	}
	if err := s.events.Append(t.Context(), analytics.Batch{Drops: drops}); err != nil {
		t.Fatal(err)
	}
	address := s.analytics + "/api/v1/websites/1/exclusions"
	s.want(s.form("GET", address, ""), 200, `{"data":[{"date":"2026-11-13","reason":"bot","events":1},{"date":"2026-11-14","reason":"bot","events":1},{"date":"2026-11-14","reason":"ip","events":1}],`+
		`"samples":[{"at":"2026-11-14T09:10:00Z","reason":"bot","page":"/b","agent":""},{"at":"2026-11-14T09:00:00Z","reason":"ip","page":"/a","agent":""},`+
		`{"at":"2026-11-13T10:00:00Z","reason":"bot","page":"/","agent":"Examplebot/1.0 <script>"}],"status":200}`)
	s.want(s.form("GET", address+"?from=2026-10-01&to=2026-10-01", ""), 200, `{"data":[{"date":"2026-10-01","reason":"bot","events":1}],"samples":[],"status":200}`)
	s.want(s.form("GET", address+"?from=x&to=y", ""), 422, `"from":[`, `"to":[`)
}
