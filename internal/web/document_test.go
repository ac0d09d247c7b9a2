package web_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// These tests hold the program to the document that it was built from: the seven operations with their parameters,
// defaults and limits, called as the document says. They use nothing that the document does not show.

func TestDocumentListProjects(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		for i := range 12 {
			s.want(s.form("POST", s.seo+"/api/v1/projects", fmt.Sprintf("project=site%02d.example", i)), 201)
		}
		list := func(query string) answer { return s.want(s.form("GET", s.seo+"/api/v1/projects"+query, ""), 200) }

		newest := "site11.example site10.example site09.example site08.example site07.example site06.example site05.example site04.example site03.example site02.example"
		oldest := "site00.example site01.example site02.example site03.example site04.example site05.example site06.example site07.example site08.example site09.example"
		tests := []struct{ query, want string }{
			{"", newest}, // created_at, desc, 10
			{"?sort=asc", oldest},
			{"?sort=desc&sort_by=created_at&per_page=10", newest},
			{"?sort_by=project&sort=asc", oldest},
			{"?sort_by=project", newest},
			{"?search=site03", "site03.example"},
			{"?search=SITE03&search_by=project", "site03.example"},
			{"?search=nothing", ""},
			{"?per_page=25&sort=asc", oldest + " site10.example site11.example"},
			{"?per_page=50&search=e1", "site11.example site10.example"},
			{"?per_page=100&search=e1&sort=asc", "site10.example site11.example"},
		}
		for _, test := range tests {
			if got := list(test.query).column("project"); got != test.want {
				t.Errorf("GET projects%s: %s, want %s", test.query, got, test.want)
			}
		}
		if created := list("").field("data.0.created_at"); created != "2026-11-14T09:30:00Z" {
			t.Errorf("created_at = %v", created)
		}
		for _, query := range []string{"?search_by=url", "?sort_by=id", "?sort=up", "?per_page=9", "?per_page=11", "?per_page=101", "?per_page=ten"} {
			name, _, _ := strings.Cut(query[1:], "=")
			s.want(s.form("GET", s.seo+"/api/v1/projects"+query, ""), 422, `"`+name+`":[`)
		}
	})
}

func TestDocumentDeleteProject(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		s.want(s.form("POST", s.seo+"/api/v1/projects", "project=example.com"), 201)
		s.want(s.form("DELETE", s.seo+"/api/v1/projects/example.com", ""), 200, `"project":"example.com"`, `"deleted":true`)
		s.want(s.form("DELETE", s.seo+"/api/v1/projects/example.com", ""), 404)
		if total := s.form("GET", s.seo+"/api/v1/projects", "").field("meta.total"); total != 0.0 {
			t.Errorf("total = %v after the deletion", total)
		}
	})
}

func TestDocumentWebsites(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		websites := s.analytics + "/api/v1/websites"
		created := s.want(s.form("POST", websites, "url="+url.QueryEscape("https://example.com")), 201,
			`"url":"https://example.com"`, `"privacy":1`, `"email":0`, `"exclude_bots":1`, `"exclude_params":null`, `"exclude_ips":null`, `"has_password":0`)
		one := fmt.Sprintf("%s/%v", websites, created.field("data.id"))
		s.want(s.form("GET", one, ""), 200, `"url":"https://example.com"`)

		all := url.Values{"url": {"https://example.org/shop"}, "privacy": {"2"}, "password": {"open sesame"}, "email": {"1"}, "exclude_bots": {"0"},
			"exclude_params": {"utm_source\nfbclid"}, "exclude_ips": {"192.0.2.1\n2001:db8::/32"}}
		changed := []string{`"url":"https://example.org/shop"`, `"privacy":2`, `"has_password":1`, `"email":1`, `"exclude_bots":0`,
			`"exclude_params":"utm_source\nfbclid"`, `"exclude_ips":"192.0.2.1\n2001:db8::/32"`}
		s.want(s.form("PUT", one, all.Encode()), 200, changed...)
		s.want(s.form("GET", one, ""), 200, changed...)
		s.want(s.form("PUT", one, "url="+url.QueryEscape("https://example.net")), 200, append(changed[1:], `"url":"https://example.net"`)...)
		s.want(s.form("POST", websites, all.Encode()), 201, changed...)

		s.want(s.form("DELETE", strings.Replace(one, "/api/v1", "", 1)+"/destroy", ""), 200, `"object":"website"`, `"deleted":true`)
		s.want(s.form("GET", one, ""), 404)
		s.want(s.form("DELETE", strings.Replace(one, "/api/v1", "", 1)+"/destroy", ""), 404)
	})
}

func TestDocumentListWebsites(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		for i := range 101 {
			s.want(s.form("POST", s.analytics+"/api/v1/websites", fmt.Sprintf("url=https://site%03d.example", i)), 201)
		}
		for _, test := range []struct {
			query       string
			first, rows any
		}{
			{"", "https://site000.example", 10.0},
			{"?sort=asc", "https://site000.example", 10.0},
			{"?sort=desc", "https://site100.example", 10.0},
			{"?per_page=10", "https://site000.example", 10.0},
			{"?per_page=37&sort=desc", "https://site100.example", 37.0},
			{"?per_page=100", "https://site000.example", 100.0},
			{"?search=Site01&sort=desc", "https://site019.example", 10.0},
			{"?search=nothing", nil, nil},
		} {
			got := s.want(s.form("GET", s.analytics+"/api/v1/websites"+test.query, ""), 200)
			if got.field("data.0.url") != test.first || got.field("meta.to") != test.rows {
				t.Errorf("GET websites%s: %v, %v rows; want %v, %v", test.query, got.field("data.0.url"), got.field("meta.to"), test.first, test.rows)
			}
		}
		for _, query := range []string{"?sort=up", "?per_page=9", "?per_page=101", "?per_page=-10", "?per_page=10.5"} {
			name, _, _ := strings.Cut(query[1:], "=")
			s.want(s.form("GET", s.analytics+"/api/v1/websites"+query, ""), 422, `"`+name+`":[`)
		}
	})
}

func TestDocumentAuthentication(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		for _, operation := range []struct{ method, address string }{
			{"GET", s.seo + "/api/v1/projects"}, {"DELETE", s.seo + "/api/v1/projects/example.com"},
			{"GET", s.analytics + "/api/v1/websites"}, {"GET", s.analytics + "/api/v1/websites/1"}, {"POST", s.analytics + "/api/v1/websites"},
			{"PUT", s.analytics + "/api/v1/websites/1"}, {"DELETE", s.analytics + "/websites/1/destroy"},
		} {
			s.want(s.do(operation.method, operation.address, ""), 401)
			s.want(s.do(operation.method, operation.address, "", "Authorization: Bearer wrong"), 401)
			if a := s.do(operation.method, operation.address, "", "Authorization: Bearer "+s.key); a.status == 401 || a.status == 403 || a.status >= 500 {
				t.Errorf("%s %s with a key: %d", operation.method, operation.address, a.status)
			}
		}
	})
}
