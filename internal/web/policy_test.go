package web_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sightline/internal/account"
	"sightline/internal/analytics"
	"sightline/internal/seo"
	"sightline/internal/trash"
	"sightline/internal/web"
	"sightline/internal/web/apikit"
)

// callers are the columns of the policy table.
var callers = []string{"no key", "bad key", "revoked", "expired", "read-only", "other area", "other account", "owner"}

// policy says what each caller gets from each operation. A route without a row here fails the test.
var policy = map[string][]int{
	//                                          none bad rev. exp. read area other owner
	"GET /api/v1/projects":                              {401, 401, 401, 401, 200, 403, 200, 200},
	"DELETE /api/v1/projects/{project}":                 {401, 401, 401, 401, 403, 403, 404, 200},
	"GET /api/v1/projects/{project}":                    {401, 401, 401, 401, 200, 403, 404, 200},
	"POST /api/v1/projects":                             {401, 401, 401, 401, 403, 403, 201, 201},
	"GET /api/v1/reports":                               {401, 401, 401, 401, 200, 403, 200, 200},
	"POST /api/v1/reports":                              {401, 401, 401, 401, 403, 403, 201, 201},
	"GET /api/v1/reports/{id}":                          {401, 401, 401, 401, 200, 403, 404, 200},
	"PUT /api/v1/reports/{id}":                          {401, 401, 401, 401, 403, 403, 404, 200},
	"PATCH /api/v1/reports/{id}":                        {401, 401, 401, 401, 403, 403, 404, 200},
	"DELETE /api/v1/reports/{id}":                       {401, 401, 401, 401, 403, 403, 404, 200},
	"POST /api/v1/reports/{id}/stop":                    {401, 401, 401, 401, 403, 403, 404, 200},
	"GET /api/v1/reports/{id}/pages":                    {401, 401, 401, 401, 200, 403, 404, 200},
	"GET /api/v1/reports/{id}/findings":                 {401, 401, 401, 401, 200, 403, 404, 200},
	"GET /api/v1/reports/{id}/export":                   {401, 401, 401, 401, 200, 403, 404, 200},
	"GET /api/v1/reports/{id}/runs":                     {401, 401, 401, 401, 200, 403, 404, 200},
	"GET /api/v1/reports/{id}/runs/{from}/compare/{to}": {401, 401, 401, 401, 200, 403, 404, 200},
	"POST /api/v1/trash/report/{id}/restore":            {401, 401, 401, 401, 403, 403, 404, 200},
	"DELETE /api/v1/trash/report/{id}":                  {401, 401, 401, 401, 403, 403, 404, 200},
	"GET /api/v1/websites":                              {401, 401, 401, 401, 200, 403, 200, 200},
	"GET /api/v1/websites/{id}":                         {401, 401, 401, 401, 200, 403, 404, 200},
	"POST /api/v1/websites":                             {401, 401, 401, 401, 403, 403, 201, 201},
	"PUT /api/v1/websites/{id}":                         {401, 401, 401, 401, 403, 403, 404, 200},
	"PATCH /api/v1/websites/{id}":                       {401, 401, 401, 401, 403, 403, 404, 200},
	"DELETE /websites/{id}/destroy":                     {401, 401, 401, 401, 403, 403, 404, 200},
	"DELETE /api/v1/websites/{id}":                      {401, 401, 401, 401, 403, 403, 404, 200},
	"PUT /api/v1/bulk/websites":                         {401, 401, 401, 401, 403, 403, 200, 200},
	"POST /api/v1/trash/website/{id}/restore":           {401, 401, 401, 401, 403, 403, 404, 200},
	"DELETE /api/v1/trash/website/{id}":                 {401, 401, 401, 401, 403, 403, 404, 200},
	"POST /api/v1/trash/project/{id}/restore":           {401, 401, 401, 401, 403, 403, 404, 200},
	"DELETE /api/v1/trash/project/{id}":                 {401, 401, 401, 401, 403, 403, 404, 200},
	"GET /api/v1/trash":                                 {401, 401, 401, 401, 200, 403, 200, 200},
	"GET /api/v1/account":                               {401, 401, 401, 401, 200, 200, 200, 200},
	"GET /api/v1/keys":                                  {401, 401, 401, 401, 403, 403, 200, 200},
	"POST /api/v1/keys":                                 {401, 401, 401, 401, 403, 403, 201, 201},
	"DELETE /api/v1/keys/{id}":                          {401, 401, 401, 401, 403, 403, 404, 200},
	"POST /api/event":                                   {202, 401, 401, 401, 403, 403, 202, 202},
	"GET /api/event.gif":                                {400, 401, 401, 401, 403, 403, 400, 400},
	"GET /js/s.js":                                      {200, 200, 200, 200, 200, 200, 200, 200},
	"GET /api/v1/websites/{id}/stats":                   {401, 401, 401, 401, 200, 403, 404, 200},
	"GET /api/v1/stats/{id}":                            {401, 401, 401, 401, 200, 403, 404, 200},
	"GET /api/v1/websites/{id}/realtime":                {401, 401, 401, 401, 200, 403, 404, 200},
	"GET /api/v1/websites/{id}/exclusions":              {401, 401, 401, 401, 200, 403, 404, 200},
	"GET /api/v1/websites/{id}/export":                  {401, 401, 401, 401, 200, 403, 404, 200},
	"POST /api/v1/websites/{id}/import":                 {401, 401, 401, 401, 403, 403, 404, 200},
	"POST /api/v1/events/compact":                       {401, 401, 401, 401, 403, 403, 403, 200},
	"GET /api/v1/openapi.json":                          {200, 200, 200, 200, 200, 200, 200, 200},
	"GET /docs":                                         {200, 200, 200, 200, 200, 200, 200, 200},
	"GET /healthz":                                      {200, 200, 200, 200, 200, 200, 200, 200},
	"GET /readyz":                                       {200, 200, 200, 200, 200, 200, 200, 200},
}

// TestPolicy is the policy matrix, with tenants: it calls every route as every caller.
func TestPolicy(t *testing.T) {
	onEngines(t, func(t *testing.T, s *server) {
		served := map[string]bool{}
		for _, area := range []struct {
			base   string
			routes []apikit.Route
			keys   map[string]string
		}{
			{s.seo, s.routes(s.web.SEO), s.callers(account.SEORead, account.AnalyticsWrite)},
			{s.analytics, s.routes(s.web.Analytics), s.callers(account.AnalyticsRead, account.SEOWrite)},
		} {
			for _, route := range area.routes {
				name := route.Method + " " + route.Path
				served[name] = true
				if len(policy[name]) != len(callers) {
					t.Errorf("%s has no row in the policy table", name)
					continue
				}
				for i, caller := range callers {
					s.callAs(area.base, route, caller, area.keys[caller], policy[name][i])
				}
			}
		}
		for name := range policy {
			if !served[name] {
				t.Errorf("the policy table has a row for %s, which nobody serves", name)
			}
		}
	})
}

func (s *server) routes(place *web.Place) []apikit.Route {
	s.Helper()
	return s.web.Routes(place)
}

// callers makes a key for each column of the policy table.
func (s *server) callers(read, other account.Scope) map[string]string {
	revoked := s.newKey(s.owner.ID, account.AllScopes(), time.Time{})
	keys, err := s.catalog.AllKeys(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	if err := s.catalog.RevokeKey(s.Context(), s.owner.ID, keys[len(keys)-1].ID, start); err != nil {
		s.Fatal(err)
	}
	_, stranger := s.account(strings.ToLower(rand.Text()[:10]) + "@example.com")
	return map[string]string{"bad key": account.NewSecret(), "revoked": revoked, "expired": s.newKey(s.owner.ID, account.AllScopes(), start),
		"read-only": s.newKey(s.owner.ID, account.Scopes{read}, time.Time{}), "other area": s.newKey(s.owner.ID, account.Scopes{other}, time.Time{}),
		"other account": stranger, "owner": s.key}
}

// callAs calls a route for fresh records of the owner. A refused caller must have no effect; another account must get the
// answer that an unknown record gets.
func (s *server) callAs(base string, route apikit.Route, caller, key string, want int) {
	s.Helper()
	v := s.newVictims(strings.Contains(route.Path, "/trash/"))
	id := v.website.ID
	switch {
	case strings.Contains(route.Path, "/trash/project/"):
		id = v.project.ID
	case strings.Contains(route.Path, "/keys/"):
		id = v.key
	case strings.Contains(route.Path, "/reports/") || strings.Contains(route.Path, "/trash/report/"):
		id = v.reportID
	}
	call := func(id, name string) answer {
		path := strings.NewReplacer("{id}", id, "{project}", strings.ReplaceAll(name, " ", "%20"), "{from}", "1", "{to}", "1").Replace(route.Path)
		switch route.Path {
		case "/api/v1/stats/{id}":
			path += "?name=page"
		case "/api/v1/reports/{id}/export":
			path += "?format=csv"
		}
		body := map[string]string{"/api/v1/websites": "url=https://new.example", "/api/v1/websites/{id}": "email=1",
			"/api/v1/reports": "url=https://new.example", "/api/v1/reports/{id}": "privacy=0",
			"/api/v1/projects": "project=new" + rand.Text()[:8], "/api/v1/keys": "name=new", "/api/v1/bulk/websites": "[]", "/api/event": `{"s":"abc"}`}[route.Path]
		headers := []string{formType}
		if strings.HasPrefix(body, "[") || strings.HasPrefix(body, "{") {
			headers = []string{jsonType}
		}
		if route.Lines {
			body, headers = `{"at":"2026-11-14T09:30:00Z","kind":"pageview","page":"/victim","visitor":"00000000000000aa","visit":"00000000000000ab"}`, []string{lineType}
		}
		if key != "" {
			headers = append(headers, "Authorization: Bearer "+key)
		}
		got := s.do(route.Method, base+path, body, headers...)
		got.body = strings.ReplaceAll(got.body, got.header.Get("X-Request-Id"), "")
		return got
	}
	got := call(fmt.Sprint(id), v.project.Name)
	if got.status != want {
		s.Errorf("%s %s as %s: %d, want %d: %s", route.Method, route.Path, caller, got.status, want, got.body)
	}
	if caller == "other account" && strings.Contains(got.body, "victim") {
		s.Errorf("%s %s shows another account's record: %s", route.Method, route.Path, got.body)
	}
	if got.status < 400 {
		return
	}
	if unknown := call("987654321", "unknown"); unknown.status != got.status || unknown.body != got.body {
		s.Errorf("%s %s as %s: %s, but of an unknown record: %s", route.Method, route.Path, caller, got.body, unknown.body)
	}
	if now := s.stateOf(v); now != v {
		s.Errorf("%s %s as %s changed %+v to %+v", route.Method, route.Path, caller, v, now)
	}
}

// victims are records of the owner that a caller might touch.
type victims struct {
	website analytics.Website
	project seo.Project
	report  string // all that there is to know of it
	key     int64
	trashed bool

	reportID int64
}

// newVictims makes fresh records, in the trash or not.
func (s *server) newVictims(trashed bool) victims {
	s.Helper()
	v := victims{website: analytics.NewWebsite(s.owner.ID, start), project: seo.NewProject(s.owner.ID, start), trashed: trashed}
	report := seo.NewReport(s.owner.ID, start)
	s.newKey(s.owner.ID, account.AllScopes(), time.Time{})
	keys, err := s.catalog.AllKeys(s.Context())
	v.key = keys[len(keys)-1].ID
	err = errors.Join(err, report.SetURL("https://victim.example/"+rand.Text()[:8]), s.catalog.CreateReport(s.Context(), &report, nil), v.website.SetURL("https://victim.example/"+rand.Text()[:8]), v.project.SetName("victim "+rand.Text()[:8]),
		s.catalog.CreateWebsite(s.Context(), &v.website, nil), s.catalog.CreateProject(s.Context(), &v.project, nil))
	v.report, v.reportID = fmt.Sprintf("%+v", report), report.ID
	if trashed {
		err = errors.Join(err, s.catalog.DeleteReport(s.Context(), s.owner.ID, report.ID, trash.Deletion{At: start}))
		_, wrong := s.catalog.DeleteProject(s.Context(), s.owner.ID, seo.Ref{ID: v.project.ID}, trash.Deletion{At: start})
		err = errors.Join(err, wrong, s.catalog.DeleteWebsite(s.Context(), s.owner.ID, v.website.ID, trash.Deletion{At: start}))
	}
	if err != nil {
		s.Fatal(err)
	}
	return v
}

// stateOf reads the records again. Those in the trash are brought back to be read.
func (s *server) stateOf(v victims) victims {
	s.Helper()
	now := victims{trashed: v.trashed, reportID: v.reportID}
	var errs []error
	if v.trashed {
		errs = append(errs, s.catalog.RestoreReport(s.Context(), s.owner.ID, v.reportID, new(seo.Report), nil))
		errs = append(errs, s.catalog.RestoreWebsite(s.Context(), s.owner.ID, v.website.ID, &now.website, nil),
			s.catalog.RestoreProject(s.Context(), s.owner.ID, v.project.ID, &now.project, nil))
	}
	var err error
	now.website, err = s.catalog.Website(s.Context(), s.owner.ID, v.website.ID)
	errs = append(errs, err)
	now.project, err = s.catalog.Project(s.Context(), s.owner.ID, seo.Ref{ID: v.project.ID})
	errs = append(errs, err)
	report, err := s.catalog.Report(s.Context(), s.owner.ID, v.reportID)
	now.report = fmt.Sprintf("%+v", report)
	errs = append(errs, err)
	keys, err := s.catalog.AllKeys(s.Context())
	errs = append(errs, err)
	for _, key := range keys {
		if key.ID == v.key && key.RevokedAt.IsZero() {
			now.key = key.ID
		}
	}
	if err := errors.Join(errs...); err != nil {
		s.Errorf("reading the records again: %v", err)
	}
	return now
}

// fields that are not the caller's to set are never stored, and answers carry only the documented ones.
func TestMassAssignment(t *testing.T) {
	const foreign = "&id=77&account_id=2&tracking_id=mine&created_at=2001-01-01&updated_at=2001-01-01&deleted_at=2001-01-01" +
		"&version=9&password_hash=x&has_password=1&reports=5&score=99&result=good&last_report_at=2001-01-01&status=500"
	onEngines(t, func(t *testing.T, s *server) {
		created := s.want(s.form("POST", s.analytics+"/api/v1/websites", "url=https://example.com&password=hunter2hunter2"+foreign), 201)
		updated := s.want(s.form("PUT", s.analytics+"/api/v1/websites/1", "email=1"+foreign), 200)
		for _, got := range []answer{created, updated} {
			if got.field("data.id") != 1.0 || got.field("data.tracking_id") != created.field("data.tracking_id") || got.field("data.tracking_id") == "mine" ||
				got.field("data.created_at") != "2026-11-14T09:30:00Z" || strings.Contains(got.body, "hunter2") {
				t.Errorf("website: %s", got.body)
			}
			fields(t, got, "created_at domain email exclude_bots exclude_ips exclude_params has_password id privacy tracking_id updated_at url")
		}
		project := s.want(s.form("POST", s.seo+"/api/v1/projects", "project=example.com"+foreign), 201, `"reports":0,"score":null,"result":null,"last_report_at":null`)
		if project.field("data.id") != 1.0 {
			t.Errorf("project: %s", project.body)
		}
		fields(t, project, "created_at id last_report_at project reports result score updated_at")
	})
}

// fields demands that a record has just these fields.
func fields(t *testing.T, got answer, want string) {
	t.Helper()
	var body struct{ Data map[string]any }
	if err := json.Unmarshal([]byte(got.body), &body); err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(want) {
		if _, there := body.Data[name]; !there {
			t.Errorf("no %s in %s", name, got.body)
		}
		delete(body.Data, name)
	}
	for name := range body.Data {
		t.Errorf("undocumented %s in %s", name, got.body)
	}
}
