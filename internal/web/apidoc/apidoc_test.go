package apidoc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sightline/internal/access"
	"sightline/internal/analytics"
	"sightline/internal/listing"
	"sightline/internal/seo"
	"sightline/internal/site"
	"sightline/internal/web/apidoc"
	"sightline/internal/web/apikit"
)

const base = "https://sight.example.com:8443"

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
	for _, path := range []string{"/api/v1/projects", "/api/v1/projects/{project}", "/api/v1/trash", "/api/v1/trash/project/{id}/restore",
		"/api/v1/websites", "/api/v1/websites/{id}", "/websites/{id}/destroy", "/api/v1/bulk/websites", "/api/v1/trash/website/{id}/restore",
		"/api/v1/account", "/api/v1/keys", "/api/v1/openapi.json", "/docs", "/healthz", "/readyz"} {
		next := bytes.Index(doc.Paths, []byte(`"`+path+`":`))
		if next <= at {
			t.Errorf("%s is not in its place", path)
		}
		at = next
	}
}

// TestTrash checks that the list of the trash holds what its document speaks of, and nothing else.
func TestTrash(t *testing.T) {
	items := map[string]string{
		"seo":       `{"object": "project", "id": 8, "project": "example.com", "deleted_at": "2026-11-14T09:30:00Z", "purge_at": "2026-11-21T09:30:00Z"}`,
		"analytics": `{"object": "website", "id": 7, "url": "https://example.com", "deleted_at": "2026-11-14T09:30:00Z", "purge_at": "2026-11-21T09:30:00Z"}`,
	}
	for name, test := range all {
		doc := load(t, document(t, test.areas...))
		content := doc.Paths.Value("/api/v1/trash").Get.Responses.Value("200").Value.Content["application/json"]
		for area, text := range items {
			var item any
			if err := json.Unmarshal([]byte(text), &item); err != nil {
				t.Fatal(err)
			}
			err := content.Schema.Value.Properties["data"].Value.VisitJSON([]any{item}, openapi3.EnableJSONSchema2020())
			if allowed := slices.Contains(test.areas, apidoc.Area(area)); (err == nil) != allowed {
				t.Errorf("%s: %s: %v", name, text, err)
			}
		}
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
	for _, choice := range schema.OneOf {
		checkClosed(t, name, choice.Value)
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
		{"password", length("WebsiteChange", "password"), access.MaxPassword},
		{"password in JSON", length("WebsiteChangeJSON", "password"), access.MaxPassword},
	} {
		if test.got != test.want {
			t.Errorf("%s: at most %d, described %d", test.name, test.want, test.got)
		}
	}
	imported := doc.Paths.Value("/api/v1/websites/{id}/import").Post.Responses.Value("413").Value.Content["application/json"].Example.(map[string]any)
	if want := fmt.Sprintf("The body must be at most %d KiB.", apikit.MaxLinesBody>>10); imported["message"] != want {
		t.Errorf("import: %s Described: %v", want, imported["message"])
	}
	for path, limit := range map[string]int{"/api/v1/websites/{id}": apikit.MaxBody, "/api/v1/bulk/websites": apikit.MaxManyBody} {
		example := doc.Paths.Value(path).Put.Responses.Value("413").Value.Content["application/json"].Example.(map[string]any)
		if want := fmt.Sprintf("The body must be at most %d KiB.", limit>>10); example["message"] != want {
			t.Errorf("%s: %s Described: %v", path, want, example["message"])
		}
	}
}

// TestStatsAreDescribed looks for everything that can be asked in the descriptions of the parameters.
func TestStatsAreDescribed(t *testing.T) {
	described := map[string]string{}
	for _, p := range load(t, document(t, apidoc.Analytics)).Paths.Value("/api/v1/websites/{id}/stats").Get.Parameters {
		described[p.Value.Name] = p.Value.Description
	}
	demand := func(parameter, name string) {
		t.Helper()
		if !strings.Contains(described[parameter], "`"+name+"`") {
			t.Errorf("%s does not name %s: %s", parameter, name, described[parameter])
		}
	}
	for _, metric := range analytics.Metrics {
		demand("metrics", string(metric))
	}
	for _, dimension := range analytics.Dimensions() {
		demand("by", string(dimension))
	}
	for _, interval := range analytics.Intervals {
		demand("by", string(interval))
	}
	for _, op := range analytics.Ops {
		demand("filter", string(op))
	}
}
