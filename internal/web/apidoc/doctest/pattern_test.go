package doctest

import "testing"

// oneSite is a stage with a website alone.
type oneSite struct{}

func (oneSite) Key([]string) string  { return "key" }
func (oneSite) Record(string) Record { return Record{Host: "own.example"} }

func TestMatching(t *testing.T) {
	g, err := NewGenerator([]byte(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{},"components":{}}`), oneSite{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"^$", "^[0-9a-f]{16}$", "^([A-Z]{2})?$", `^(|today|[1-9][0-9]{0,3}(d|mo))$`, `^[^\x00-\x1F\x7F-\x9F]{3,}$`, `^\s*[-+]?[0-9]+\.?[0-9]*$`,
		"^a+b*.x?$", "^(is|is_not):.*$", "^[\U0001F600-\U0001F64F]$", filterPattern} {
		for range 100 {
			if made := g.matching(pattern); !compiled(pattern).MatchString(made) {
				t.Errorf("%q does not match %s", made, pattern)
			}
		}
	}
}

func TestAgree(t *testing.T) {
	for _, test := range []struct{ sent, want []field }{
		{[]field{{"privacy", "2"}}, []field{{"privacy", "0"}}},
		{[]field{{"privacy", "2"}, {"password", "x"}}, []field{{"privacy", "2"}, {"password", "x"}}},
		{[]field{{"password", nil}}, []field{{"password", nil}, {"privacy", "1"}}},
		{[]field{{"kind", "event"}, {"name", nil}}, []field{{"kind", "event"}, {"name", "signup"}}},
		{[]field{{"from", "7d"}, {"to", "2026-11-14"}}, []field{{"from", "7d"}}},
		{[]field{{"from", "2026-11-01"}, {"to", "2026-11-14"}}, []field{{"from", "2026-11-01"}, {"to", "2026-11-14"}}},
		{[]field{{"by", "minute"}, {"from", "12mo"}}, []field{{"by", "minute"}, {"from", "today"}}},
		{[]field{{"by", "time"}, {"compare", "2026-01-01..2026-01-02"}}, []field{{"by", "time"}, {"compare", "previous_period"}}},
		{[]field{{"by", "page"}, {"interval", "day"}}, []field{{"by", "page"}}},
		{[]field{{"limit", 10.0}, {"per_page", 10.0}}, []field{{"limit", 10.0}}},
		{[]field{{"limit", 10.0}, {"compare", "previous_year"}}, []field{{"compare", "previous_year"}}},
		{[]field{{"sort", "visits:asc"}}, nil},
		{[]field{{"sort", "visits:asc"}, {"metrics", "events visits"}}, []field{{"sort", "visits:asc"}, {"metrics", "events visits"}}},
		{[]field{{"max_pages", 9.0}}, []field{{"max_pages", 9.0}, {"scope", "site"}}},
		{[]field{{"scope", "page"}, {"sitemap", "x"}}, []field{{"scope", "site"}, {"sitemap", "x"}}},
		{[]field{{"scope", "page"}, {"sitemap", nil}}, []field{{"scope", "page"}, {"sitemap", nil}}},
		{[]field{{"ignore_robots", 1.0}, {"url", "other.example"}}, []field{{"ignore_robots", 1.0}, {"url", "https://own.example"}}},
		{[]field{{"ignore_robots", ""}, {"url", "other.example"}}, []field{{"ignore_robots", ""}, {"url", "other.example"}}},
	} {
		g := &Generator{stage: oneSite{}}
		if got := quoteFields(g.agree(test.sent)); got != quoteFields(test.want) {
			t.Errorf("%s, want %s", got, quoteFields(test.want))
		}
	}
}

func quoteFields(fields []field) string {
	out := ""
	for _, f := range fields {
		out += f.name + "=" + quote(f.value) + " "
	}
	return out
}
