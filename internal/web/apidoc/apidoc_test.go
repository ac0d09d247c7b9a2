package apidoc_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sightline/internal/analytics"
	"sightline/internal/listing"
	"sightline/internal/seo"
	"sightline/internal/site"
	"sightline/internal/web/analyticsapi"
	"sightline/internal/web/apidoc"
	"sightline/internal/web/apikit"
	"sightline/internal/web/seoapi"
)

const base = "https://sight.example.com:8443"

// all is every document that a server can serve, with the routes that it serves then.
var all = map[string]struct {
	title  string
	areas  []apidoc.Area
	routes []apikit.Route
}{
	"seo":       {"Sightline: search optimization", []apidoc.Area{apidoc.SEO}, (&seoapi.API{}).Routes()},
	"analytics": {"Sightline: analytics", []apidoc.Area{apidoc.Analytics}, (&analyticsapi.API{}).Routes()},
	"both":      {"Sightline", []apidoc.Area{apidoc.SEO, apidoc.Analytics}, append((&seoapi.API{}).Routes(), (&analyticsapi.API{}).Routes()...)},
}

// open are the operations that need no key and are not among the routes of an area.
var open = []apikit.Route{
	{Method: "GET", Path: "/api/v1/openapi.json"}, {Method: "GET", Path: "/docs"}, {Method: "GET", Path: "/healthz"}, {Method: "GET", Path: "/readyz"},
}

func document(t *testing.T, areas ...apidoc.Area) []byte {
	t.Helper()
	doc, err := apidoc.Document("1.2.3", base, areas...)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func load(t *testing.T, document []byte) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestDocumentsAreValid(t *testing.T) {
	for name, test := range all {
		doc := load(t, document(t, test.areas...))
		if err := doc.Validate(t.Context(), openapi3.EnableMultiError()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if doc.OpenAPI != "3.1.0" || doc.Info.Title != test.title || doc.Info.Version != "1.2.3" || len(doc.Servers) != 1 || doc.Servers[0].URL != base {
			t.Errorf("%s: OpenAPI %s, title %q, version %q, servers %v", name, doc.OpenAPI, doc.Info.Title, doc.Info.Version, doc.Servers)
		}
	}
}

// TestExamplesAreChecked makes sure that the validation above would find an example that does not match its schema.
func TestExamplesAreChecked(t *testing.T) {
	for _, change := range []struct{ old, new string }{
		{`"privacy": 1,`, `"privacy": 3,`},                  // of a request or an answer
		{`"example": 20`, `"example": 5`},                   // of a parameter
		{`"object": "website",`, `"object": "project",`},    // of an answer with a const
		{`"deleted": true,`, `"deleted": true, "more": 1,`}, // an unknown field
	} {
		doc := document(t, apidoc.Analytics)
		if !bytes.Contains(doc, []byte(change.old)) {
			t.Fatalf("no %s in the document", change.old)
		}
		if load(t, bytes.ReplaceAll(doc, []byte(change.old), []byte(change.new))).Validate(t.Context()) == nil {
			t.Errorf("an example with %s passes", change.new)
		}
	}
}

func TestDocumentRefuses(t *testing.T) {
	for _, areas := range [][]apidoc.Area{nil, {"mail"}, {apidoc.SEO, apidoc.SEO}} {
		if _, err := apidoc.Document("1.2.3", base, areas...); err == nil {
			t.Errorf("a document of %q", areas)
		}
	}
}

func TestExamplesNameTheRealAddress(t *testing.T) {
	doc := document(t, apidoc.SEO, apidoc.Analytics)
	if bytes.Contains(doc, []byte("base_url")) || !bytes.Contains(doc, []byte(base+"/api/v1/projects?search=shop")) {
		t.Error("the examples do not carry the base URL")
	}
}

// TestOrder checks that paths keep their order and that the documented operations of an area come first.
func TestOrder(t *testing.T) {
	var doc struct{ Paths json.RawMessage }
	if err := json.Unmarshal(document(t, apidoc.SEO, apidoc.Analytics), &doc); err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, path := range []string{"/api/v1/projects", "/api/v1/projects/{project}", "/api/v1/websites", "/api/v1/websites/{id}",
		"/websites/{id}/destroy", "/api/v1/openapi.json", "/docs", "/healthz", "/readyz"} {
		next := bytes.Index(doc.Paths, []byte(`"`+path+`":`))
		if next <= at {
			t.Errorf("%s is not in its place", path)
		}
		at = next
	}
}

// TestEveryRouteIsDescribed compares the routes with the operations, both ways.
func TestEveryRouteIsDescribed(t *testing.T) {
	for name, test := range all {
		doc := load(t, document(t, test.areas...))
		var routes, described []string
		for _, route := range append(test.routes, open...) {
			routes = append(routes, route.Method+" "+route.Path)
		}
		for path, item := range doc.Paths.Map() {
			for method := range item.Operations() {
				described = append(described, method+" "+path)
			}
		}
		slices.Sort(routes)
		slices.Sort(described)
		if !slices.Equal(routes, described) {
			t.Errorf("%s: routes %q\ndescribed %q", name, routes, described)
		}
	}
}

func TestOperationsMatchTheirRoutes(t *testing.T) {
	doc := load(t, document(t, apidoc.SEO, apidoc.Analytics))
	for _, route := range append(all["both"].routes, open...) {
		name := route.Method + " " + route.Path
		operation := doc.Paths.Value(route.Path).GetOperation(route.Method)
		var query, path []string
		for _, p := range operation.Parameters {
			switch p.Value.In {
			case "query":
				query = append(query, p.Value.Name)
			case "path":
				path = append(path, "{"+p.Value.Name+"}")
			}
		}
		if !slices.Equal(query, route.Query) {
			t.Errorf("%s: query %q, described %q", name, route.Query, query)
		}
		for _, part := range path {
			if !strings.Contains(route.Path, part) {
				t.Errorf("%s has no %s", name, part)
			}
		}
		for kind, fields := range bodyFields(operation) {
			if want := slices.Sorted(slices.Values(route.Body)); !slices.Equal(fields, want) {
				t.Errorf("%s: %s fields %q, described %q", name, kind, want, fields)
			}
		}
		if len(route.Body) > 0 && len(bodyFields(operation)) != 2 {
			t.Errorf("%s does not describe a form and JSON", name)
		}
		checkScope(t, name, operation, string(route.Scope))
		checkStatuses(t, name, operation, route)
	}
}

// bodyFields lists the fields of a body for each way to send it.
func bodyFields(operation *openapi3.Operation) map[string][]string {
	fields := map[string][]string{}
	if operation.RequestBody != nil {
		for kind, content := range operation.RequestBody.Value.Content {
			fields[kind] = slices.Sorted(maps.Keys(content.Schema.Value.Properties))
		}
	}
	return fields
}

func checkScope(t *testing.T, name string, operation *openapi3.Operation, scope string) {
	t.Helper()
	switch {
	case operation.Security == nil:
		t.Errorf("%s does not say whether it needs a key", name)
	case scope == "" && len(*operation.Security) == 0:
	case len(*operation.Security) != 1 || !slices.Equal((*operation.Security)[0]["key"], []string{scope}):
		t.Errorf("%s needs %q, described %v", name, scope, *operation.Security)
	case !strings.Contains(operation.Description, "Needs the scope `"+scope+"`."):
		t.Errorf("%s: the description does not name its scope", name)
	}
}

// checkStatuses checks that every status is described that the conventions bring about, and no other.
func checkStatuses(t *testing.T, name string, operation *openapi3.Operation, route apikit.Route) {
	t.Helper()
	want := []string{"200", "503"}
	if route.Path == "/healthz" {
		want = []string{"200"}
	}
	if route.Method == "POST" {
		want[0] = "201"
	}
	if route.Scope != "" {
		want = append(want, "400", "401", "403", "406", "500")
		if route.Method != "GET" {
			want = append(want, "507")
		}
		if len(route.Body) > 0 {
			want = append(want, "413", "415")
		}
		if len(route.Body)+len(route.Query) > 0 {
			want = append(want, "422")
		}
		if strings.Contains(route.Path, "{") {
			want = append(want, "404")
		}
	}
	slices.Sort(want)
	if got := slices.Sorted(slices.Values(operation.Responses.Keys())); !slices.Equal(got, want) {
		t.Errorf("%s: statuses %q, want %q", name, got, want)
	}
}

// TestAnswersAreClosed checks that an answer with a field that is not described would be noticed, that every answer
// carries a request id, and that everything has an example.
func TestAnswersAreClosed(t *testing.T) {
	doc := load(t, document(t, apidoc.SEO, apidoc.Analytics))
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			for status, response := range operation.Responses.Map() {
				name := method + " " + path + " " + status
				if header := response.Value.Headers["X-Request-Id"]; header == nil || !header.Value.Required {
					t.Errorf("%s: no request id", name)
				}
				for kind, content := range response.Value.Content {
					if content.Example == nil {
						t.Errorf("%s %s: no example", name, kind)
					}
					if operation.OperationID != "openapi" || status != "200" {
						checkClosed(t, name, content.Schema.Value)
					}
				}
			}
			if operation.RequestBody != nil {
				for kind, content := range operation.RequestBody.Value.Content {
					if content.Example == nil {
						t.Errorf("%s %s: no example of %s", method, path, kind)
					}
				}
			}
		}
	}
}

func checkClosed(t *testing.T, name string, schema *openapi3.Schema) {
	t.Helper()
	if schema.Type.Is("array") {
		checkClosed(t, name+" []", schema.Items.Value)
	}
	if !schema.Type.Is("object") || schema.AdditionalProperties.Schema != nil {
		return
	}
	if schema.AdditionalProperties.Has == nil || *schema.AdditionalProperties.Has {
		t.Errorf("%s takes unknown fields", name)
	}
	for property, value := range schema.Properties {
		if !slices.Contains(schema.Required, property) {
			t.Errorf("%s: %s may be missing", name, property)
		}
		checkClosed(t, name+" "+property, value.Value)
	}
}

// TestLimits compares the limits in the document with those in the code.
func TestLimits(t *testing.T) {
	doc := load(t, document(t, apidoc.SEO, apidoc.Analytics))
	length := func(schema, property string) int {
		if limit := doc.Components.Schemas[schema].Value.Properties[property].Value.MaxLength; limit != nil {
			return int(*limit)
		}
		return -1
	}
	for _, test := range []struct {
		name      string
		got, want int
	}{
		{"search", int(*doc.Components.Parameters["search"].Value.Schema.Value.MaxLength), listing.MaxSearch},
		{"page", int(*doc.Components.Parameters["page"].Value.Schema.Value.Max), listing.MaxPage},
		{"project", length("NewProject", "project"), seo.MaxProjectName},
		{"project in JSON", length("NewProjectJSON", "project"), seo.MaxProjectName},
		{"url", length("NewWebsite", "url"), site.MaxURL},
		{"url in JSON", length("NewWebsiteJSON", "url"), site.MaxURL},
		{"password", length("WebsiteChange", "password"), analytics.MaxPassword},
		{"password in JSON", length("WebsiteChangeJSON", "password"), analytics.MaxPassword},
	} {
		if test.got != test.want {
			t.Errorf("%s: at most %d, described %d", test.name, test.want, test.got)
		}
	}
}
