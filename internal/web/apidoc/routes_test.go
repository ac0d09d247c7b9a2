package apidoc_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sightline/internal/trash"
	"sightline/internal/web/accountapi"
	"sightline/internal/web/analyticsapi"
	"sightline/internal/web/apidoc"
	"sightline/internal/web/apikit"
	"sightline/internal/web/beacon"
	"sightline/internal/web/seoapi"
)

// all is every document that a server can serve, with the routes that it serves then.
var all = map[string]struct {
	title  string
	areas  []apidoc.Area
	routes []apikit.Route
}{
	"seo":       {"Sightline: search optimization", []apidoc.Area{apidoc.SEO}, routes(trash.Project, trash.Report)},
	"analytics": {"Sightline: analytics", []apidoc.Area{apidoc.Analytics}, routes(trash.Website)},
	"both":      {"Sightline", []apidoc.Area{apidoc.SEO, apidoc.Analytics}, routes(trash.Project, trash.Report, trash.Website)},
}

// routes are those of a server with one area, or both, named by what can be in its trash.
func routes(objects ...trash.Object) []apikit.Route {
	out := []apikit.Route{
		{Method: "GET", Path: "/api/v1/openapi.json", Open: true}, {Method: "GET", Path: "/docs", Open: true},
		{Method: "GET", Path: "/healthz", Open: true}, {Method: "GET", Path: "/readyz", Open: true},
	}
	if slices.Contains(objects, trash.Project) {
		out = append(out, (&seoapi.API{}).Routes()...)
	}
	if slices.Contains(objects, trash.Website) {
		out = append(out, (&analyticsapi.API{}).Routes()...)
		out = append(out, (&beacon.API{}).Routes()...)
	}
	return append(out, (&accountapi.API{Objects: objects}).Routes()...)
}

// TestEveryRouteIsDescribed compares the routes with the operations, both ways.
func TestEveryRouteIsDescribed(t *testing.T) {
	for name, test := range all {
		doc := load(t, document(t, test.areas...))
		var routes, described []string
		for _, route := range test.routes {
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
	for name, test := range all {
		doc := load(t, document(t, test.areas...))
		for _, route := range test.routes {
			name := name + ": " + route.Method + " " + route.Path
			operation := doc.Paths.Value(route.Path).GetOperation(route.Method)
			checkParameters(t, name, operation, route)
			checkBody(t, name, operation, route)
			checkScopes(t, name, operation, route)
			checkStatuses(t, name, operation, route)
		}
	}
}

// single says whether a route is of one record, or one file, that has an ETag.
func single(route apikit.Route) bool {
	ends := []string{"/websites/{id}", "/reports/{id}", "/projects/{project}", "/destroy", "/trash/website/{id}", "/trash/project/{id}", "/trash/report/{id}", "/account", "/js/s.js"}
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(route.Path, end) })
}

func checkParameters(t *testing.T, name string, operation *openapi3.Operation, route apikit.Route) {
	t.Helper()
	var query, header []string
	for _, p := range operation.Parameters {
		switch p.Value.In {
		case "query":
			query = append(query, p.Value.Name)
		case "header":
			header = append(header, p.Value.Name)
		case "path":
			if !strings.Contains(route.Path, "{"+p.Value.Name+"}") {
				t.Errorf("%s has no %s", name, p.Value.Name)
			}
		}
	}
	if !slices.Equal(query, route.Query) {
		t.Errorf("%s: query %q, described %q", name, route.Query, query)
	}
	var want []string
	switch {
	case route.Method == "POST" && !route.Open && !route.Lines && route.Path != "/api/v1/events/compact": // those can be repeated anyway
		want = []string{"Idempotency-Key"}
	case single(route) && route.Method == "GET":
		want = []string{"If-None-Match"}
	case single(route):
		want = []string{"If-Match"}
	}
	if !slices.Equal(header, want) {
		t.Errorf("%s: headers %q, described %q", name, want, header)
	}
}

func checkBody(t *testing.T, name string, operation *openapi3.Operation, route apikit.Route) {
	t.Helper()
	fields := bodyFields(operation)
	for kind, got := range fields {
		if want := slices.Sorted(slices.Values(route.Body)); !slices.Equal(got, want) {
			t.Errorf("%s: %s fields %q, described %q", name, kind, want, got)
		}
	}
	kinds := slices.Sorted(maps.Keys(fields))
	want := []string{"application/json", "application/x-www-form-urlencoded"}
	switch {
	case route.Lines:
		want = []string{"application/x-ndjson"}
	case route.Many:
		want = want[:1]
	case route.Open && len(route.Body) > 0:
		want = []string{"application/json", "text/plain"}
	case len(route.Body) == 0:
		want = nil
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("%s takes %q, described %q", name, want, kinds)
	}
	for _, kind := range kinds {
		if many := operation.RequestBody.Value.Content[kind].Schema.Value.Type.Is("array"); many != route.Many {
			t.Errorf("%s: many %v, described %v", name, route.Many, many)
		}
	}
}

// bodyFields lists the fields of a body, or of each in a list, for each way to send it; those of the first of several formats.
func bodyFields(operation *openapi3.Operation) map[string][]string {
	fields := map[string][]string{}
	if operation.RequestBody == nil {
		return fields
	}
	for kind, content := range operation.RequestBody.Value.Content {
		schema := content.Schema.Value
		if schema.Type.Is("array") {
			schema = schema.Items.Value
		}
		if schema.Properties == nil {
			schema = schema.AnyOf[0].Value
		}
		fields[kind] = slices.Sorted(maps.Keys(schema.Properties))
	}
	return fields
}

// checkScopes checks that an operation asks for one of the scopes of its route.
func checkScopes(t *testing.T, name string, operation *openapi3.Operation, route apikit.Route) {
	t.Helper()
	want := openapi3.SecurityRequirements{}
	if route.Open && len(route.Scopes) > 0 { // a key is welcome, but not needed
		want = append(want, openapi3.SecurityRequirement{})
	}
	words := "Any key will do."
	for i, scope := range route.Scopes {
		want = append(want, openapi3.SecurityRequirement{"key": {string(scope)}})
		if words += " or `" + string(scope) + "`"; i == 0 {
			words = "Needs the scope `" + string(scope) + "`"
		}
	}
	if !route.Open && len(want) == 0 {
		want = append(want, openapi3.SecurityRequirement{"key": {}})
	}
	if operation.Security == nil || !reflect.DeepEqual(*operation.Security, want) {
		t.Errorf("%s needs %v, described %v", name, want, operation.Security)
	}
	if !route.Open && !strings.Contains(operation.Description, words) {
		t.Errorf("%s: the description does not say: %s", name, words)
	}
}

// ownStatuses are those of routes that have conventions of their own.
var ownStatuses = map[string][]string{
	"/api/event":     {"200", "202", "400", "401", "403", "413", "500", "503", "507"},
	"/api/event.gif": {"200", "400", "401", "403", "500", "503", "507"},
	"/js/s.js":       {"200", "304", "503"},
	"/healthz":       {"200"},
}

// checkStatuses checks that every status is described that the conventions bring about, and no other.
func checkStatuses(t *testing.T, name string, operation *openapi3.Operation, route apikit.Route) {
	t.Helper()
	want := []string{"200", "503"}
	if own := ownStatuses[route.Path]; own != nil {
		want = own
	}
	if route.Method == "POST" && len(route.Body) > 0 && !route.Open && !route.Lines {
		want[0] = "201"
	}
	add := func(when bool, statuses ...string) {
		if when && !route.Open {
			want = append(want, statuses...)
		}
	}
	reads, takesBody := route.Method == "GET", route.Method != "GET" && route.Method != "DELETE"
	add(true, "400", "401", "429", "500")
	add(!route.File, "406")
	add(len(route.Scopes) > 0, "403")
	add(!reads, "507")
	add(takesBody, "413", "415")
	add(takesBody && route.Path != "/api/v1/events/compact" || len(route.Query) > 0, "422")
	add(strings.Contains(route.Path, "{"), "404")
	add(single(route) && reads, "304")
	add(single(route) && !reads, "412")
	slices.Sort(want)
	if got := slices.Sorted(slices.Values(operation.Responses.Keys())); !slices.Equal(got, want) {
		t.Errorf("%s: statuses %q, want %q", name, got, want)
	}
}
