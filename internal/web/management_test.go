package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sightline/internal/account"
	"sightline/internal/web/apikit"
)

// with calls an operation with more headers.
func (s *server) with(method, address, fields string, headers ...string) answer {
	s.Helper()
	return s.do(method, address, fields, append([]string{"Authorization: Bearer " + s.key, formType}, headers...)...)
}

func TestTrash(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		for _, area := range []struct{ base, list, one, create, object, name string }{
			{s.analytics, "/api/v1/websites", "/websites/1/destroy", "url=https://example.com", "website", `"url":"https://example.com"`},
			{s.seo, "/api/v1/projects", "/api/v1/projects/example.com", "project=example.com", "project", `"project":"example.com"`},
		} {
			bin := area.base + "/api/v1/trash"
			one := bin + "/" + area.object + "/1"
			record := s.want(s.form("POST", area.base+area.list, area.create), 201).field("data")
			s.want(s.form("POST", one+"/restore", ""), 404) // not in the trash
			s.want(s.form("DELETE", one, ""), 404)
			s.want(s.form("DELETE", area.base+area.one, ""), 200)
			s.want(s.form("GET", area.base+area.list, ""), 200, `"total":0`)
			s.want(s.form("GET", bin, ""), 200, `"object":"`+area.object+`","id":1,`+area.name, `"deleted_at":"2026-11-14T09:30:00Z","purge_at":"2026-11-21T09:30:00Z"`, `"total":1`)
			back := s.want(s.form("POST", one+"/restore", ""), 200).field("data")
			if fmt.Sprint(back) != fmt.Sprint(record) {
				t.Errorf("restored %v, was %v", back, record)
			}
			s.want(s.form("GET", area.base+area.list, ""), 200, `"total":1`)
			s.want(s.form("GET", bin, ""), 200, `"total":0`)
			s.want(s.form("DELETE", area.base+area.one, ""), 200)
			s.want(s.form("DELETE", one, ""), 200, `"id":1`, `"object":"`+area.object+`"`, `"deleted":true`)
			s.want(s.form("POST", one+"/restore", ""), 404)
		}
		s.want(s.form("GET", s.analytics+"/api/v1/trash/project/1/restore", ""), 404)

		// A name is free at once, and then the old project cannot come back.
		s.want(s.form("POST", s.seo+"/api/v1/projects", "project=twice.example"), 201)
		first := s.want(s.form("DELETE", s.seo+"/api/v1/projects/twice.example", ""), 200).field("id")
		s.want(s.form("POST", s.seo+"/api/v1/projects", "project=twice.example"), 201)
		s.want(s.form("POST", fmt.Sprintf("%s/api/v1/trash/project/%v/restore", s.seo, first), ""), 422, `"project":["exists already"]`)
	})
}

func TestTrashOff(t *testing.T) {
	s := serveWith(t, func(s *server) { s.web.TrashKept = 0 })
	s.want(s.form("POST", s.analytics+"/api/v1/websites", "url=https://example.com"), 201)
	s.want(s.form("DELETE", s.analytics+"/websites/1/destroy", ""), 200)
	s.want(s.form("GET", s.analytics+"/api/v1/trash", ""), 200, `"total":0`)
}

func TestETags(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		one := s.analytics + "/api/v1/websites/1"
		created := s.want(s.form("POST", s.analytics+"/api/v1/websites", "url=https://example.com"), 201)
		tag := created.header.Get("ETag")
		read := s.want(s.form("GET", one, ""), 200)
		if tag == "" || read.header.Get("ETag") != tag {
			t.Fatalf("ETag %q, then %q", tag, read.header.Get("ETag"))
		}
		for known, want := range map[string]int{tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200, strings.Trim(tag, `"`): 200} {
			if got := s.with("GET", one, "", "If-None-Match: "+known); got.status != want || want == 304 && (got.body != "" || got.header.Get("ETag") != tag) {
				t.Errorf("If-None-Match: %s: %d %s", known, got.status, got.body)
			}
		}
		s.want(s.with("PUT", one, "email=1", `If-Match: "other"`), 412)
		s.want(s.with("PUT", one, "email=7", `If-Match: "other"`), 412) // before 422
		s.want(s.with("PUT", one, "email=1", "If-Match: W/"+tag), 412)
		s.want(s.with("PUT", one, "email=1", `If-Match: "other", *`), 412)
		if same := s.want(s.with("PUT", one, "email=0", "If-Match: "+tag), 200); same.header.Get("ETag") != tag {
			t.Errorf("an update that changed nothing has the tag %s, was %s", same.header.Get("ETag"), tag)
		}
		changed := s.want(s.with("PUT", one, "email=1", "If-Match: "+tag), 200)
		if changed.header.Get("ETag") == tag {
			t.Error("the tag did not change")
		}
		s.want(s.with("PATCH", one, "email=0", "If-Match: "+tag), 412)
		s.want(s.with("DELETE", s.analytics+"/websites/1/destroy", "", "If-Match: "+tag), 412)
		s.want(s.with("DELETE", s.analytics+"/websites/1/destroy", "", "If-Match: "+changed.header.Get("ETag")), 200)
		s.want(s.with("PUT", one, "email=1", "If-Match: *"), 404)

		project := s.want(s.form("POST", s.seo+"/api/v1/projects", "project=example.com"), 201).header.Get("ETag")
		s.want(s.with("GET", s.seo+"/api/v1/projects/example.com", "", "If-None-Match: "+project), 304)
		s.want(s.with("DELETE", s.seo+"/api/v1/projects/example.com", "", `If-Match: "other"`), 412)
		s.want(s.with("DELETE", s.seo+"/api/v1/projects/example.com", "", "If-Match: "+project), 200)
		s.want(s.with("DELETE", s.seo+"/api/v1/trash/project/1", "", `If-Match: "other"`), 412)
		s.want(s.with("DELETE", s.analytics+"/api/v1/trash/website/1", "", "If-Match: "+tag), 412) // from before the change
		s.want(s.with("DELETE", s.analytics+"/api/v1/trash/website/1", "", "If-Match: "+changed.header.Get("ETag")), 200)
		s.want(s.with("DELETE", s.analytics+"/api/v1/trash/website/1", "", "If-Match: *"), 404)
		s.want(s.with("DELETE", s.seo+"/api/v1/trash/project/1", "", "If-Match: "+project), 200)
		again := s.want(s.form("POST", s.seo+"/api/v1/projects", "project=example.com"), 201).header.Get("ETag")
		if again == project {
			t.Error("another project with the same name has the same tag")
		}

		me := s.want(s.form("GET", s.seo+"/api/v1/account", ""), 200).header.Get("ETag")
		s.want(s.with("GET", s.analytics+"/api/v1/account", "", "If-None-Match: "+me), 304)
		other := s.newKey(s.owner.ID, account.AllScopes(), time.Time{}) // the answer shows the key, too
		s.want(s.do("GET", s.seo+"/api/v1/account", "", "Authorization: Bearer "+other, "If-None-Match: "+me), 200)
	})
}

func TestIdempotencyKeys(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		websites := s.analytics + "/api/v1/websites"
		first := s.want(s.with("POST", websites, "url=https://example.com", "Idempotency-Key: one"), 201)
		again := s.want(s.with("POST", websites, "url=https://example.com", "Idempotency-Key: one"), 201)
		if again.body != first.body || again.header.Get("Location") != first.header.Get("Location") || again.header.Get("ETag") != first.header.Get("ETag") ||
			again.header.Get("Idempotency-Replayed") != "true" || first.header.Get("Idempotency-Replayed") != "" {
			t.Errorf("first %v %s again %v %s", first.header, first.body, again.header, again.body)
		}
		s.want(s.with("POST", websites, "url=https://example.org", "Idempotency-Key: one"), 422, `"Idempotency-Key":["was used before`)
		for range 2 {
			if same := s.want(s.with("POST", websites, "url=https://example.com", "Idempotency-Key: two"), 201); same.header.Get("X-Same-Domain") != "1" {
				t.Errorf("the twin is not named: %v", same.header)
			}
		}
		s.want(s.form("GET", websites, ""), 200, `"total":2`)

		// Only what succeeded is remembered; other paths, accounts and methods have keys of their own.
		s.want(s.with("POST", websites, "url=ftp://x", "Idempotency-Key: three"), 422)
		s.want(s.with("POST", websites, "url=https://example.com", "Idempotency-Key: three"), 201)
		s.want(s.with("POST", s.seo+"/api/v1/projects", "project=example.com", "Idempotency-Key: one"), 201)
		_, stranger := s.account("stranger@example.com")
		s.want(s.do("POST", websites, "url=https://example.com", "Authorization: Bearer "+stranger, formType, "Idempotency-Key: one"), 201, `"id":`)
		for _, bad := range []string{"", strings.Repeat("x", 256), "nön"} {
			s.want(s.with("POST", websites, "url=https://example.com", "Idempotency-Key: "+bad), 400)
		}

		// A secret is not repeated.
		key := s.want(s.with("POST", s.seo+"/api/v1/keys", "name=once", "Idempotency-Key: key"), 201)
		repeated := s.want(s.with("POST", s.seo+"/api/v1/keys", "name=once", "Idempotency-Key: key"), 201)
		if key.field("data.key") == nil || repeated.field("data.key") != nil || repeated.field("data.id") != key.field("data.id") {
			t.Errorf("first %s again %s", key.body, repeated.body)
		}
		// So is a restoration.
		s.want(s.form("DELETE", websites+"/1", ""), 200)
		s.want(s.with("POST", s.analytics+"/api/v1/trash/website/1/restore", "", "Idempotency-Key: back"), 200)
		s.want(s.with("POST", s.analytics+"/api/v1/trash/website/1/restore", "", "Idempotency-Key: back"), 200, `"id":1`)
	})
}

// Of 50 callers with one idempotency key, one creates and all get its answer.
func TestRacingIdempotencyKey(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		answers := make([]answer, 50)
		var group sync.WaitGroup
		for i := range answers {
			group.Go(func() {
				answers[i] = s.with("POST", s.analytics+"/api/v1/websites", "url=https://example.com", "Idempotency-Key: race")
			})
		}
		group.Wait()
		for _, got := range answers {
			if got.status != 201 || got.body != answers[0].body {
				t.Errorf("%d %s, another got %s", got.status, got.body, answers[0].body)
			}
		}
		s.want(s.form("GET", s.analytics+"/api/v1/websites", ""), 200, `"total":1`)
	})
}

func TestBulk(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		bulk := s.analytics + "/api/v1/bulk/websites"
		const three = `[{"url":"https://a.example"},{"url":"https://b.example/x","privacy":2,"password":"opensesame"},{"domain":"c.example","exclude_params":"utm_*"}]`
		s.want(s.json("PUT", bulk+"?dry_run=1", three), 200, `"created":3,"updated":0,"unchanged":0`, `"id":null`, `"tracking_id":null`)
		s.want(s.form("GET", s.analytics+"/api/v1/websites", ""), 200, `"total":0`)
		first := s.want(s.json("PUT", bulk, three), 200, `"created":3,"updated":0,"unchanged":0`)
		if first.column("domain") != "a.example b.example c.example" {
			t.Errorf("order: %s", first.body)
		}
		second := s.want(s.json("PUT", bulk, three), 200, `"created":0,"updated":0,"unchanged":3`)
		if strings.ReplaceAll(second.body, `"unchanged":3`, "") == "" || second.column("updated_at") != first.column("updated_at") || second.column("id") != first.column("id") {
			t.Errorf("the second time: %s", second.body)
		}
		s.want(s.json("PUT", bulk+"?dry_run=1", `[{"url":"https://www.a.example/new","email":1},{"url":"https://d.example"}]`), 200, `"created":1,"updated":1,"unchanged":0`, `"email":1`)
		s.want(s.json("PUT", bulk, `[{"url":"https://www.a.example/new","email":1},{"url":"https://d.example"}]`), 200, `"created":1,"updated":1,"unchanged":0`)
		s.want(s.form("GET", s.analytics+"/api/v1/websites/1", ""), 200, `"url":"https://www.a.example/new"`, `"email":1`)

		// All or nothing, and every bad field at once.
		bad := s.want(s.json("PUT", bulk, `[{"url":"https://e.example"},{"url":"https://f.example","privacy":7,"email":"x"},{"privacy":1},{"url":"https://www.e.example"},{"url":"https://a.example","privacy":2}]`), 422)
		var body struct{ Errors map[string][]string }
		if err := json.Unmarshal([]byte(bad.body), &body); err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"1.privacy", "1.email", "2.url", "3.url", "4.password"} {
			if len(body.Errors[field]) == 0 {
				t.Errorf("%s is not named: %s", field, bad.body)
			}
		}
		s.want(s.form("GET", s.analytics+"/api/v1/websites?search=//e.example", ""), 200, `"total":0`)

		for _, test := range []struct {
			body, kind string
			want       int
		}{
			{`{"url":"https://a.example"}`, jsonType, 400}, {`[1]`, jsonType, 400}, {`null`, jsonType, 400}, {`[{"url":"https://a.example"}`, jsonType, 400},
			{"url=https://a.example", formType, 415}, {"[" + strings.Repeat(" ", 1<<20) + "]", jsonType, 413}, {"[]", jsonType, 200},
			{"[" + strings.Repeat(`{},`, 1000) + "{}]", jsonType, 422},
		} {
			if got := s.do("PUT", bulk, test.body, "Authorization: Bearer "+s.key, test.kind); got.status != test.want {
				t.Errorf("%.40s: %d, want %d: %.200s", test.body, got.status, test.want, got.body)
			}
		}
	})
}

// A thousand websites, applied twice, change nothing the second time.
func TestBulkOfAThousand(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		var entries []string
		for i := range 1000 {
			entries = append(entries, fmt.Sprintf(`{"url":"https://site%d.example","exclude_params":"utm_*","privacy":%d}`, i, i%2))
		}
		body := "[" + strings.Join(entries, ",") + "]"
		s.want(s.json("PUT", s.analytics+"/api/v1/bulk/websites", body), 200, `"created":1000`)
		s.want(s.json("PUT", s.analytics+"/api/v1/bulk/websites", body), 200, `"unchanged":1000`)
		s.want(s.form("GET", s.analytics+"/api/v1/websites", ""), 200, `"total":1000`)
	})
}

func TestKeysAndAccount(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		keys := s.seo + "/api/v1/keys"
		s.want(s.form("GET", s.analytics+"/api/v1/account", ""), 200, `"email":"owner@localhost"`, `"timezone":"UTC"`, `"key":{"id":1,"name":"test","scopes":["seo:read"`)
		made := s.want(s.json("POST", keys, `{"name":"reader","scopes":["seo:read","analytics:read"],"expires_at":"2027-01-31T00:00:00Z"}`), 201,
			`"scopes":["seo:read","analytics:read"]`, `"expires_at":"2027-01-31T00:00:00Z"`, `"last_used_at":null`)
		secret, _ := made.field("data.key").(string)
		s.want(s.do("GET", s.seo+"/api/v1/projects", "", "Authorization: Bearer "+secret), 200)
		s.want(s.do("GET", keys, "", "Authorization: Bearer "+secret), 403, "account:write")
		list := s.want(s.form("GET", keys, ""), 200, `"total":2`)
		if strings.Contains(list.body, secret) || list.field("data.1.key") != nil {
			t.Errorf("a list shows the secret: %s", list.body)
		}
		for _, bad := range []string{"", "name=", "name=x&scopes=everything", "name=x&expires_at=tomorrow", "name=x&expires_at=2020-01-01T00:00:00Z", "name=" + strings.Repeat("x", 101)} {
			s.want(s.form("POST", keys, bad), 422)
		}
		for _, bad := range []string{`{"name":"x","scopes":[]}`, `{"name":"x","scopes":[""]}`, `{"name":"x","scopes":[1]}`, `{"name":"x","scopes":[null]}`, `{"name":"x","scopes":true}`,
			`{"name":"x","scopes":["seo:read",{}]}`, `{"name":"  "}`, `{"name":["x"]}`, `{"name":"x","expires_at":"0001-01-01T00:00:00Z"}`, `{"name":"x","expires_at":"9999-12-31T23:59:59-01:00"}`} {
			s.want(s.json("POST", keys, bad), 422)
		}
		s.want(s.json("POST", keys, `{"name":"both","scopes":["seo:read,seo:write"]}`), 422)
		s.want(s.form("POST", keys, "name=both&scopes=seo:read,+seo:write"), 201, `"scopes":["seo:read","seo:write"]`)
		limited := s.newKey(s.owner.ID, account.Scopes{account.SEORead, account.AccountWrite}, time.Time{})
		s.want(s.do("POST", keys, "name=x&scopes=seo:write", "Authorization: Bearer "+limited, formType), 422, `"scopes":["must not include seo:write`)
		s.want(s.do("POST", keys, "name=x", "Authorization: Bearer "+limited, formType), 201, `"scopes":["seo:read","account:write"]`)

		s.want(s.form("DELETE", fmt.Sprintf("%s/%v", keys, made.field("data.id")), ""), 200, `"object":"key","deleted":true`)
		s.want(s.form("DELETE", fmt.Sprintf("%s/%v", keys, made.field("data.id")), ""), 404)
		s.forget()
		s.want(s.do("GET", s.seo+"/api/v1/projects", "", "Authorization: Bearer "+secret), 401)
	})
}

func TestRateLimit(t *testing.T) {
	s := serveWith(t, func(s *server) { s.web.Limit = apikit.NewRateLimit(5) }) // a burst of 10, and the clock stands still
	projects := s.seo + "/api/v1/projects"
	for i := range 10 {
		got := s.want(s.form("GET", projects, ""), 200)
		if got.header.Get("RateLimit-Limit") != "10" || got.header.Get("RateLimit-Remaining") != fmt.Sprint(9-i) {
			t.Errorf("request %d: %v", i, got.header)
		}
	}
	over := s.want(s.form("GET", projects, ""), 429)
	if over.header.Get("Retry-After") != "1" || over.header.Get("RateLimit-Remaining") != "0" || over.header.Get("RateLimit-Reset") != "2" {
		t.Errorf("headers %v", over.header)
	}
	s.want(s.do("GET", projects, "", "Authorization: Bearer "+account.NewSecret()), 401) // never throttled into another status
	other := s.newKey(s.owner.ID, account.AllScopes(), time.Time{})
	s.want(s.do("GET", projects, "", "Authorization: Bearer "+other), 200)
	s.want(s.do("GET", s.seo+"/healthz", ""), 200)
}
