// Package archtest holds the program to the import rules of docs/architecture.md.
package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "sightline/"

// A rule says what a package may import of this program and from others, besides the standard library, and what of the
// standard library is closed to it. A name that ends in /... stands for everything below it.
type rule struct {
	own    []string
	others []string
	never  []string
}

var (
	basics = []string{"internal/access", "internal/fault", "internal/listing", "internal/receipt", "internal/site", "internal/trash"}
	// A domain knows meaning and rules, not how a request arrives or where data rests.
	closedToDomains = []string{"net/http", "database/sql"}
	domains         = []string{"internal/account", "internal/analytics", "internal/seo"}
)

var rules = map[string]rule{
	"internal/access":    {own: []string{"internal/fault"}, others: []string{"golang.org/x/crypto/argon2"}, never: closedToDomains},
	"internal/fault":     {never: closedToDomains},
	"internal/receipt":   {never: closedToDomains},
	"internal/trash":     {own: []string{"internal/listing"}, never: closedToDomains},
	"internal/schedule":  {own: []string{"internal/analytics", "internal/receipt", "internal/trash"}, never: closedToDomains},
	"internal/listing":   {others: []string{"golang.org/x/text/..."}, never: closedToDomains},
	"internal/site":      {others: []string{"github.com/nlnwa/whatwg-url/...", "golang.org/x/net/idna", "golang.org/x/text/..."}, never: closedToDomains},
	"internal/account":   {own: basics, never: closedToDomains},
	"internal/analytics": {own: basics, never: closedToDomains},
	"internal/seo":       {own: basics, never: closedToDomains},
	"internal/config":    {others: []string{"github.com/alecthomas/kong", "github.com/BurntSushi/toml", "golang.org/x/net/idna"}, never: closedToDomains},
	"internal/metrics":   {others: []string{"github.com/prometheus/client_golang/..."}, never: []string{"database/sql"}},

	"internal/check":           {own: []string{"internal/seo"}, others: []string{"golang.org/x/text/language"}, never: closedToDomains},
	"internal/check/facts":     {own: []string{"internal/seo"}, others: []string{"golang.org/x/net/html/..."}, never: closedToDomains},
	"internal/check/checktest": {own: []string{"internal/check/facts", "internal/seo"}, never: []string{"database/sql"}},

	"internal/crawl":              {own: []string{"internal/crawl/..."}, never: []string{"database/sql"}},
	"internal/crawl/frontiertest": {own: []string{"internal/crawl", "internal/crawl/address"}, others: []string{"pgregory.net/rapid"}, never: closedToDomains},
	"internal/crawl/crawltest":    {own: []string{"internal/crawl/address"}, others: []string{"golang.org/x/net/dns/dnsmessage"}, never: []string{"database/sql"}},
	"internal/crawl/address":      {others: []string{"github.com/nlnwa/whatwg-url/..."}, never: closedToDomains},
	"internal/crawl/guard":        {own: []string{"internal/crawl/address"}, others: []string{"code.dny.dev/ssrf"}, never: []string{"database/sql"}},
	"internal/crawl/robots":       {never: closedToDomains},
	"internal/crawl/sitemap":      {own: []string{"internal/crawl/address"}, others: []string{"golang.org/x/net/html/charset"}, never: closedToDomains},

	"internal/audit":        {own: []string{"internal/check", "internal/check/facts", "internal/crawl/...", "internal/fault", "internal/seo"}, never: []string{"database/sql"}},
	"internal/audit/export": {own: []string{"internal/check", "internal/seo"}, never: closedToDomains},

	"internal/collect": {own: []string{"internal/analytics", "internal/fault", "internal/collect/..."},
		others: []string{"github.com/gaissmai/bart"}, never: closedToDomains},
	"internal/collect/agent":    {own: []string{"internal/analytics", "internal/collect/recent"}, others: []string{"github.com/mileusna/useragent"}, never: closedToDomains},
	"internal/collect/page":     {own: []string{"internal/analytics", "internal/site"}, never: closedToDomains},
	"internal/collect/place":    {own: []string{"internal/analytics", "internal/collect/recent"}, others: []string{"github.com/oschwald/maxminddb-golang/v2"}, never: closedToDomains},
	"internal/collect/recent":   {never: closedToDomains},
	"internal/collect/referrer": {own: []string{"internal/analytics", "internal/collect/page"}, never: closedToDomains},
	"internal/collect/spool":    {own: []string{"internal/fault"}, others: []string{"modernc.org/sqlite/..."}, never: []string{"net/http"}},

	"internal/web":                {own: slices.Concat(domains, basics, []string{"internal/web/..."}), never: []string{"database/sql"}},
	"internal/web/apikit":         {own: slices.Concat([]string{"internal/account"}, basics), others: []string{"golang.org/x/time/rate"}, never: []string{"database/sql"}},
	"internal/web/accountapi":     {own: slices.Concat([]string{"internal/account", "internal/web/apikit"}, basics), never: []string{"database/sql"}},
	"internal/web/origin":         {never: []string{"database/sql"}},
	"internal/web/seoapi":         {own: slices.Concat(domains, basics, []string{"internal/audit/export", "internal/web/apikit"}), never: []string{"database/sql"}},
	"internal/web/analyticsapi":   {own: slices.Concat(domains, basics, []string{"internal/web/apikit"}), never: []string{"database/sql"}},
	"internal/web/beacon":         {own: []string{"internal/account", "internal/collect", "internal/fault", "internal/web/apikit"}, never: []string{"database/sql"}},
	"internal/web/apidoc":         {never: []string{"database/sql"}},
	"internal/web/apidoc/doctest": {others: []string{"github.com/getkin/kin-openapi/...", "github.com/santhosh-tekuri/jsonschema/v6"}, never: []string{"database/sql"}},

	"internal/store":                 {own: slices.Concat(domains, basics, []string{"internal/schedule", "internal/store/archive", "internal/store/duckdb", "internal/store/sqlite", "internal/store/postgres"})},
	"internal/store/archive":         {own: slices.Concat(domains, basics), never: closedToDomains},
	"internal/store/sqlite":          {own: slices.Concat(domains, basics, []string{"internal/store/archive"}), others: []string{"modernc.org/sqlite/..."}, never: []string{"net/http"}},
	"internal/store/postgres":        {own: slices.Concat(domains, basics, []string{"internal/store/archive"}), others: []string{"github.com/jackc/pgx/v5/..."}, never: []string{"net/http"}},
	"internal/store/duckdb":          {own: []string{"internal/analytics", "internal/fault"}, others: []string{"github.com/duckdb/duckdb-go/v2"}, never: []string{"net/http"}},
	"internal/store/postgres/pgtest": {others: []string{"github.com/jackc/pgx/v5/..."}},
	"internal/store/memory":          {own: slices.Concat(domains, basics), never: []string{"net/http"}},
	"internal/store/timed":           {own: slices.Concat(domains, basics, []string{"internal/store"}), never: []string{"net/http"}},
	"internal/store/storetest": {own: slices.Concat(domains, basics, []string{"internal/store", "internal/store/archive", "internal/store/memory"}),
		others: []string{"github.com/google/go-cmp/...", "pgregory.net/rapid", "golang.org/x/text/..."}},

	"bench": {own: []string{"internal/account", "internal/analytics", "internal/audit", "internal/collect", "internal/collect/place", "internal/collect/spool",
		"internal/crawl", "internal/crawl/guard", "internal/seo", "internal/store", "internal/web", "internal/web/origin"},
		others: []string{"github.com/jackc/pgx/v5", "golang.org/x/net/html", "modernc.org/sqlite"}},
	"bench/colly": {others: []string{"github.com/gocolly/colly/v2"}},
	"client":      {never: []string{"database/sql"}},

	"cmd/sightline": {own: []string{"client", "internal/..."}, others: []string{"github.com/alecthomas/kong", "github.com/lmittmann/tint", "golang.org/x/term"}},
}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for folder, imports := range sources(t) {
		seen[folder] = true
		rule, known := rules[folder]
		if !known {
			t.Errorf("package %s has no rule: add one here and in docs/architecture.md", folder)
			continue
		}
		for _, path := range imports {
			if problem := rule.problem(path); problem != "" {
				t.Errorf("%s imports %s: %s", folder, path, problem)
			}
		}
	}
	for folder := range rules {
		if !seen[folder] {
			t.Errorf("there is a rule for %s but no such package", folder)
		}
	}
}

// problem says why an import is against the rule; empty when it is not.
func (r rule) problem(path string) string {
	own, isOwn := strings.CutPrefix(path, module)
	first, _, _ := strings.Cut(path, "/")
	switch {
	case isOwn && !matches(r.own, own):
		return "the layout does not allow it"
	case isOwn:
		return ""
	case strings.Contains(first, ".") && !matches(r.others, path):
		return "this package does without that library"
	case slices.Contains(r.never, path):
		return "it is closed to this package"
	}
	return ""
}

func matches(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		below, tree := strings.CutSuffix(pattern, "/...")
		return path == pattern || tree && (path == below || strings.HasPrefix(path, below+"/"))
	})
}

// sources lists what the files of each package import, tests aside.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	root := filepath.Join("..", "..")
	imports := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		imports[folder] = append(imports[folder], "") // the package is seen even if it imports nothing
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imports[folder] = append(imports[folder], name)
		}
		return nil
	})
	if err != nil || len(imports) < 10 {
		t.Fatalf("%d packages: %v", len(imports), err)
	}
	return imports
}
