package apidoc_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sightline/internal/web/apidoc"
)

func page(t *testing.T, areas ...apidoc.Area) string {
	t.Helper()
	out, err := apidoc.Page(document(t, areas...))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestPageShowsEverything looks for every operation, parameter, field and record.
func TestPageShowsEverything(t *testing.T) {
	for name, test := range all {
		text := html.UnescapeString(page(t, test.areas...))
		doc := load(t, document(t, test.areas...))
		for path, item := range doc.Paths.Map() {
			for method, operation := range item.Operations() {
				_, article, found := strings.Cut(text, `<article class="operation" id="`+operation.OperationID+`">`)
				article, _, _ = strings.Cut(article, "</article>")
				if !found || !strings.Contains(article, method+"</span>") || !strings.Contains(article, path+"</code>") {
					t.Errorf("%s: no %s %s", name, method, path)
				}
				if !strings.Contains(article, "curl ") || !strings.Contains(article, "'"+base+"/") {
					t.Errorf("%s: no call of %s", name, operation.OperationID)
				}
				for _, p := range operation.Parameters {
					if !strings.Contains(article, "<td><code>"+p.Value.Name+"</code>") {
						t.Errorf("%s: no parameter %s of %s", name, p.Value.Name, operation.OperationID)
					}
				}
				for _, fields := range bodyFields(operation) {
					for _, field := range fields {
						if !strings.Contains(article, "<td><code>"+field+"</code>") {
							t.Errorf("%s: no field %s of %s", name, field, operation.OperationID)
						}
					}
				}
				for status := range operation.Responses.Map() {
					if !strings.Contains(article, ">"+status+"</span>") {
						t.Errorf("%s: no status %s of %s", name, status, operation.OperationID)
					}
				}
			}
		}
		for _, want := range []string{test.title, base, "1.2.3", "Authorization: Bearer <API_KEY>", "Authorization: Bearer $KEY"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %s", name, want)
			}
		}
	}
}

var operationID = regexp.MustCompile(`<article class="operation" id="([a-zA-Z]+)">`)

// TestPageOrder checks that the documented operations come first.
func TestPageOrder(t *testing.T) {
	var got []string
	for _, match := range operationID.FindAllStringSubmatch(page(t, apidoc.SEO, apidoc.Analytics), -1) {
		got = append(got, match[1])
	}
	want := []string{"listProjects", "deleteProject", "listReports", "createReport", "readReport", "updateReport", "patchReport", "deleteReport", "stopReport",
		"listReportPages", "listFindings", "exportReport", "listRuns", "compareRuns", "listWebsites", "createWebsite", "readWebsite", "updateWebsite", "deleteWebsite",
		"readStats", "listStats", "readRealtime", "readExclusions", "exportEvents", "importEvents", "compactEvents",
		"createProject", "readProject", "patchWebsite", "deleteWebsiteToo", "applyWebsites", "reportEvent", "reportByPicture", "tracker",
		"listTrash", "restoreReport", "purgeReport", "restoreProject", "purgeProject", "restoreWebsite", "purgeWebsite",
		"readAccount", "listKeys", "createKey", "revokeKey", "openapi", "docs", "health", "ready"}
	if !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
}

var (
	styleElement = regexp.MustCompile(`(?s)<style>(.*?)</style>`)
	linkTarget   = regexp.MustCompile(`(?i)\s(?:href|src|srcset|action|data|poster)\s*=\s*"?([^"\s>]*)`)
	anchorID     = regexp.MustCompile(`\sid="([^"]*)"`)
)

// TestPageStandsAlone checks that the page loads nothing, and that its links lead somewhere.
func TestPageStandsAlone(t *testing.T) {
	text := page(t, apidoc.SEO, apidoc.Analytics)
	for _, banned := range []string{"<script", "<link", "<img", "<iframe", "style=", "@import", "url(", " onclick", "javascript:", "ZgotmplZ"} {
		if strings.Contains(text, banned) {
			t.Errorf("the page has %s", banned)
		}
	}
	ids := map[string]bool{}
	for _, match := range anchorID.FindAllStringSubmatch(text, -1) {
		if ids[match[1]] {
			t.Errorf("two places are called %s", match[1])
		}
		ids[match[1]] = true
	}
	for _, match := range linkTarget.FindAllStringSubmatch(text, -1) {
		target := match[1]
		name, local := strings.CutPrefix(target, "#")
		if local && !ids[name] || !local && target != "/api/v1/openapi.json" {
			t.Errorf("the link %s leads nowhere", target)
		}
	}
}

func TestPolicyAllowsTheStyle(t *testing.T) {
	styles := styleElement.FindAllStringSubmatch(page(t, apidoc.SEO), -1)
	if len(styles) != 1 {
		t.Fatalf("%d style elements", len(styles))
	}
	sum := sha256.Sum256([]byte(styles[0][1]))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if got := apidoc.Policy(); got != want {
		t.Errorf("policy %s, want %s", got, want)
	}
}

func TestPageRefuses(t *testing.T) {
	whole := document(t, apidoc.SEO)
	for name, text := range map[string][]byte{
		"no JSON":         []byte("oops"),
		"dead reference":  bytes.ReplaceAll(whole, []byte("#/components/parameters/search"), []byte("#/components/parameters/sought")),
		"wrong kind":      bytes.ReplaceAll(whole, []byte(`"name": "search_by"`), []byte(`"name": 1`)),
		"no group":        bytes.ReplaceAll(whole, []byte(`"name": "Projects"`), []byte(`"name": "Others"`)),
		"no tags":         bytes.ReplaceAll(whole, []byte(`"tags": [`+"\n"+`          "Projects"`), []byte(`"tags": [`)),
		"nameless server": bytes.ReplaceAll(whole, []byte(`"url": "`+base+`"`), []byte(`"url": 5`)),
	} {
		if _, err := apidoc.Page(text); err == nil {
			t.Errorf("%s: a page", name)
		}
	}
}

// TestCalls checks the commands that people paste.
func TestCalls(t *testing.T) {
	text := html.UnescapeString(page(t, apidoc.SEO, apidoc.Analytics))
	for _, want := range []string{
		"curl '" + base + "/api/v1/projects?search=shop&sort_by=project&sort=asc&per_page=25' \\\n  -H \"Authorization: Bearer $KEY\" \\\n  -H \"Accept: application/json\"<",
		"curl -X DELETE '" + base + "/api/v1/projects/example.com' \\\n  -H \"Authorization: Bearer $KEY\"<",
		"curl -X DELETE '" + base + "/websites/7/destroy' \\\n  -H \"Authorization: Bearer $KEY\"<",
		"curl -X POST '" + base + "/api/v1/websites' \\\n  -H \"Authorization: Bearer $KEY\" \\\n  --data-urlencode 'url=https://example.com' \\\n",
		"  -H \"Content-Type: application/json\" \\\n  -d '{\n    \"url\": \"https://example.com\",\n    \"privacy\": 1,\n    \"email\": 0,\n    \"exclude_bots\": 1\n  }'<",
		"curl '" + base + "/healthz'<",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}
