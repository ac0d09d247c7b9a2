package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

func TestProjects(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		projects := s.seo + "/api/v1/projects"
		steps := []struct {
			name, method, path, fields string
			want                       int
			text                       string
		}{
			{"a host is normalised", "POST", "", "project=WWW.Example.COM", 201, `"id":1,"project":"example.com","created_at":"2026-11-14T09:30:00Z"`},
			{"without reports", "GET", "/example.com", "", 200, `"reports":0,"score":null,"result":null,"last_report_at":null`},
			{"the name exists", "POST", "", "project=example.com", 422, `"project":["exists already"]`},
			{"the same in another spelling", "POST", "", "project=www.EXAMPLE.com", 422, `"project":["exists already"]`},
			{"read by name", "GET", "/example.com", "", 200, `"id":1`},
			{"read by name in another spelling", "GET", "/WWW.example.com", "", 200, `"id":1`},
			{"read by id", "GET", "/1", "", 200, `"project":"example.com"`},
			{"unknown id", "GET", "/99", "", 404, ""},
			{"huge id", "GET", "/99999999999999999999", "", 404, ""},
			{"unknown name", "GET", "/example.org", "", 404, ""},
			{"by url", "POST", "", "url=https://www.example.net:443/path", 201, `"project":"example.net"`},
			{"by url with a port of its own", "POST", "", "url=http://localhost:9000/", 201, `"project":"localhost:9000"`},
			{"read with a port", "GET", "/localhost:9000", "", 200, `"project":"localhost:9000"`},
			{"bad url", "POST", "", "url=ftp://example.com", 422, `"url"`},
			{"name before url", "POST", "", "project=Spring+campaign&url=https://ignored.example", 201, `"project":"Spring campaign"`},
			{"read with a space", "GET", "/Spring%20campaign", "", 200, `"project":"Spring campaign"`},
			{"other names keep their case", "GET", "/spring%20campaign", "", 404, ""},
			{"slash in a name", "POST", "", "project=a%2Fb", 201, `"project":"a/b"`},
			{"read with a slash", "GET", "/a%2Fb", "", 200, `"project":"a/b"`},
			{"decoded once", "GET", "/a%252Fb", "", 404, ""},
			{"percent in a name", "POST", "", "project=100%25+better", 201, `"project":"100% better"`},
			{"read with a percent", "GET", "/100%25%20better", "", 200, `"project":"100% better"`},
			{"IDN", "POST", "", "project=B%C3%BCcher.example", 201, `"project":"xn--bcher-kva.example"`},
			{"read IDN", "GET", "/b%C3%BCcher.example", "", 200, `"project":"xn--bcher-kva.example"`},
			{"digits only", "POST", "", "project=2026", 422, `"project":["must not consist of digits only`},
			{"empty", "POST", "", "project=", 422, `"project":["is required`},
			{"nothing", "POST", "", "", 422, `"project":["is required`},
			{"blank", "POST", "", "project=+++", 422, `"project":["is required`},
			{"256 characters", "POST", "", "project=" + strings.Repeat("a", 256), 422, `"project":["must be at most 255 characters long"]`},
			{"255 characters", "POST", "", "project=" + strings.Repeat("%C3%BC", 255), 201, ""},
			{"a slash alone", "POST", "", "project=/", 422, `"project":["must not be a slash or dots alone`},
			{"dots alone", "POST", "", "project=..", 422, `"project":["must not be a slash or dots alone`},
			{"host and port of 259 characters", "POST", "", "url=http://" + strings.Repeat(strings.Repeat("a", 62)+".", 4) + "a:65535", 422, `"url":["must have a host`},
			{"line break", "POST", "", "project=a%0Ab", 422, `"project":["must not contain control characters"]`},
			{"reversed text", "POST", "", "project=a%E2%80%AEb", 422, `"project":["must contain printable characters only"]`},
			{"decomposed", "POST", "", "project=u%CC%88ber+uns", 201, `"project":"über uns"`},
			{"read decomposed", "GET", "/u%CC%88ber%20uns", "", 200, `"project":"über uns"`},
			{"Persian", "POST", "", "project=%D9%86%D9%85%DB%8C%E2%80%8C%D8%AE%D9%88%D8%A7%D9%87%D9%85", 201, ""},
			{"nothing to see", "POST", "", "project=%E2%80%8D", 422, `"project":["must contain printable characters only"]`},
			{"Greek", "POST", "", "project=%CE%9F%CE%94%CE%9F%CE%A3", 201, ""},
			{"emoji", "POST", "", "project=%F0%9F%91%A9%E2%80%8D%F0%9F%92%BB+blog", 201, ""},
			{"delete by another spelling", "DELETE", "/WWW.example.COM", "", 200, `{"id":1,"project":"example.com","object":"project","deleted":true,"status":200}`},
			{"delete again", "DELETE", "/1", "", 404, ""},
			{"the name is free again", "POST", "", "project=example.com", 201, `"project":"example.com"`},
			{"the id is not", "GET", "/1", "", 404, ""},
		}
		for _, step := range steps {
			t.Run(step.name, func(t *testing.T) {
				s.T = t
				s.want(s.form(step.method, projects+step.path, step.fields), step.want, step.text)
			})
		}
		s.T = t
		if got := s.form("GET", projects+"?search=B%C3%9CCHER", ""); got.column("project") != "xn--bcher-kva.example" {
			t.Errorf("search in the project's own script: %s", got.body)
		}
		for query, want := range map[string]string{"%CE%BF%CE%B4%CE%BF%CF%82": "ΟΔΟΣ", "%CE%BF%CE%B4%CE%BF%CF%83": "ΟΔΟΣ", "%C3%9CBER": "über uns", "U%CC%88ber": "über uns"} {
			if got := s.form("GET", projects+"?search="+query, ""); got.column("project") != want {
				t.Errorf("search %s: %s", query, got.body)
			}
		}
		id := s.form("GET", projects+"/example.net", "").field("data.id")
		s.want(s.form("DELETE", fmt.Sprint(projects, "/", id), ""), 200, `"project":"example.net"`)
		created := s.form("POST", projects, "project=a%2Fc")
		if location := created.header.Get("Location"); location != projects+"/a%2Fc" || s.form("GET", location, "").field("data.project") != "a/c" {
			t.Errorf("Location: %s", location)
		}
	})
}

// of 50 callers that create one name at once, one succeeds.
func TestRacingCreates(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		var group sync.WaitGroup
		statuses := make([]int, 50)
		for i := range statuses {
			group.Go(func() {
				request, err := http.NewRequest("POST", s.seo+"/api/v1/projects", strings.NewReader(url.Values{"project": {"race.example"}}.Encode()))
				if err != nil {
					t.Error(err)
					return
				}
				request.Header.Set("Authorization", "Bearer "+s.key)
				request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				response, err := s.client().Do(request)
				if err != nil {
					t.Error(err)
					return
				}
				response.Body.Close()
				statuses[i] = response.StatusCode
			})
		}
		group.Wait()
		count := map[int]int{}
		for _, status := range statuses {
			count[status]++
		}
		if fmt.Sprint(count) != "map[201:1 422:49]" {
			t.Errorf("answers: %v", count)
		}
		if total := s.form("GET", s.seo+"/api/v1/projects", "").field("meta.total"); total != 1.0 {
			t.Errorf("total %v", total)
		}
	})
}
