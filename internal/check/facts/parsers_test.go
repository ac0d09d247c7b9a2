package facts

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestSrcset(t *testing.T) {
	tests := []struct {
		srcset string
		want   []string
	}{
		{"", nil},
		{" , ,", nil},
		{"a", []string{"a"}},
		{"a 1x, b 2x", []string{"a", "b"}},
		{"a,b 2x", []string{"a,b"}},
		{"a, b,", []string{"a", "b"}},
		{"a 1x,b,,c 3x", []string{"a", "b,,c"}},
		{"\n a\t100w ,\r\n b 200w", []string{"a", "b"}},
		{"a (1x, 2x), b", []string{"a", "b"}},
		{"data:image/png;base64,AAAA 1x, b 2x", []string{"data:image/png;base64,AAAA", "b"}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, srcsetTargets(test.srcset, 10)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.srcset, diff)
		}
	}
}

func TestClean(t *testing.T) {
	tests := []struct {
		text  string
		limit int
		want  string
	}{
		{"plain", 10, "plain"},
		{"exactly", 7, "exactly"},
		{"too long", 3, "too…"},
		{"ééé", 5, "éé…"},
		{"日本", 5, "日…"},
		{"a\x00b\x7fc\n\td", 20, "a\ufffdb\ufffdc  d"},
		{"\xff\xfe", 10, "\ufffd\ufffd"},
	}
	for _, test := range tests {
		if got := clean(test.text, test.limit); got != test.want {
			t.Errorf("clean(%q, %d) = %q, want %q", test.text, test.limit, got, test.want)
		}
	}
}

// FuzzLinkHeader demands that every target was written between angle brackets, and that a written canonical is found.
func FuzzLinkHeader(f *testing.F) {
	for _, seed := range []string{`</x>; rel="canonical"`, `<a>;rel=next,<b>;rel="x canonical"`, `<a>; title="\">"; rel=canonical`, `<`, `<>;`, `;rel=canonical`, `<a>;rel`, `<a>;=,`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		targets := canonicalTargets(header)
		if len(targets) > maxElements {
			t.Fatalf("%d targets", len(targets))
		}
		for _, target := range targets {
			if !strings.Contains(header, target) || !strings.Contains(strings.ToLower(header), "canonical") {
				t.Errorf("%q has no canonical %q", header, target)
			}
		}
		if got := canonicalTargets(`</known>; rel="canonical", ` + header); len(got) == 0 || got[0] != "/known" {
			t.Errorf("the canonical before %q is lost: %q", header, got)
		}
	})
}

// FuzzSrcset demands that the targets are pieces of the set without white space, in its order.
func FuzzSrcset(f *testing.F) {
	for _, seed := range []string{"a 1x, b 2x", "a,b", ",,a,,", "a (,), b", "data:image/png;base64,AA== 2x,b", "a )(", " \n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, srcset string) {
		rest := srcset
		for _, target := range srcsetTargets(srcset, 50) {
			at := strings.Index(rest, target)
			if at < 0 || target == "" || strings.ContainsAny(target, " \t\n\f\r") || strings.HasPrefix(target, ",") || strings.HasSuffix(target, ",") {
				t.Fatalf("%q of %q", target, srcset)
			}
			rest = rest[at+len(target):]
		}
	})
}

// FuzzRobotsRules demands clean, bounded rules, and that noindex is seen behind whatever else is a directive.
func FuzzRobotsRules(f *testing.F) {
	for _, seed := range []string{"noindex", "none, nofollow", "googlebot: noindex", "unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, noindex", ":", ",,:", "a:b:c", "max-snippet:-1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rules := parseRules("", text)
		if len(rules) > maxRules {
			t.Fatalf("%d rules", len(rules))
		}
		for _, r := range rules {
			if r.Name == "" || !utf8.ValidString(r.Name+r.Agent) || len(r.Name) > maxLinkText*3 || strings.ContainsAny(r.Name, ",\x00") {
				t.Errorf("%q gives %+v", text, r)
			}
		}
		if before := parseRules("", "noindex,"+text); before[0].Name != "noindex" || !before[0].Excludes(time.Time{}) {
			t.Errorf("noindex before %q is lost: %+v", text, before)
		}
	})
}

// FuzzJSONLD demands that just what is not JSON has a problem, in words that can be shown.
func FuzzJSONLD(f *testing.F) {
	for _, seed := range []string{`{"@context":"https://schema.org"}`, `{"a":1,}`, "", " ", "[", `"\ud800"`, "nul", "{}{}", "\xff", strings.Repeat("[", 20_000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		problem := jsonProblem([]byte(text))
		if (problem == "") != json.Valid([]byte(text)) {
			t.Errorf("%q: %q", text, problem)
		}
		if !utf8.ValidString(problem) || len(problem) > 1000 || slices.ContainsFunc([]rune(problem), func(r rune) bool { return r < ' ' }) {
			t.Errorf("%q: a problem that cannot be shown: %q", text, problem)
		}
	})
}
