package robots_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sightline/internal/crawl/robots"
)

const bot = "SightlineBot"

// lines makes a file of lines that are separated by bars.
func lines(text string) []byte { return []byte(strings.ReplaceAll(text, " | ", "\n") + "\n") }

func TestWhoIsMeant(t *testing.T) {
	for _, c := range []struct {
		name, file, agent, path string
		want                    bool
	}{
		{"no file", "", bot, "/", true},
		{"everyone", "User-agent: * | Disallow: /", bot, "/x", false},
		{"only another", "User-agent: OtherBot | Disallow: /", bot, "/x", true},
		{"by name", "User-agent: SightlineBot | Disallow: /x", bot, "/x", false},
		{"by name in another case", "USER-AGENT: sIGHTLINEbOT | DISALLOW: /x", bot, "/x", false},
		{"with a version", "User-agent: SightlineBot/2.1 | Disallow: /x", bot, "/x", false},
		{"a longer name is another", "User-agent: SightlineBot-News | Disallow: /x", bot, "/x", true},
		{"a shorter name is another", "User-agent: Sightline | Disallow: /x", bot, "/x", true},
		{"the name beats the star", "User-agent: * | Disallow: / | User-agent: SightlineBot | Disallow: /x", bot, "/y", true},
		{"the name beats the star that follows", "User-agent: SightlineBot | Disallow: /x | User-agent: * | Disallow: /", bot, "/y", true},
		{"a group without rules allows all", "User-agent: * | Disallow: / | User-agent: SightlineBot", bot, "/x", true},
		{"groups of one agent are merged", "User-agent: SightlineBot | Disallow: /a | User-agent: B | Disallow: /b | User-agent: SightlineBot | Disallow: /c", bot, "/c", false},
		{"and the first part still counts", "User-agent: SightlineBot | Disallow: /a | User-agent: B | Disallow: /b | User-agent: SightlineBot | Disallow: /c", bot, "/a", false},
		{"and another's part does not", "User-agent: SightlineBot | Disallow: /a | User-agent: B | Disallow: /b | User-agent: SightlineBot | Disallow: /c", bot, "/b", true},
		{"groups for all are merged", "User-agent: * | Disallow: /a | User-agent: B | Disallow: /b | User-agent: * | Disallow: /c", bot, "/c", false},
		{"one group for several", "User-agent: A | User-agent: SightlineBot | Disallow: /x", bot, "/x", false},
		{"an empty line ends nothing", "User-agent: SightlineBot |  | Disallow: /x", bot, "/x", false},
		{"a sitemap ends nothing", "User-agent: SightlineBot | Sitemap: https://a.example/s.xml | User-agent: B | Disallow: /x", bot, "/x", false},
		{"a crawl-delay ends nothing", "User-agent: SightlineBot | Crawl-delay: 5 | User-agent: B | Disallow: /x", bot, "/x", false},
		{"an unknown line ends nothing", "User-agent: SightlineBot | Nonsense: 5 | User-agent: B | Disallow: /x", bot, "/x", false},
		{"a rule ends the list of agents", "User-agent: SightlineBot | Disallow: /a | User-agent: B | Disallow: /b", bot, "/b", true},
		{"even an empty one", "User-agent: SightlineBot | Disallow: | User-agent: B | Disallow: /b", bot, "/b", true},
		{"rules before any agent", "Disallow: / | User-agent: B | Disallow: /b", bot, "/x", true},
		{"star with a word after it", "User-agent: * all | Disallow: /x", bot, "/x", false},
		{"robots.txt itself is always open", "User-agent: * | Disallow: /", bot, "/robots.txt", true},
		{"comments", "# hello | User-agent: SightlineBot # us | Disallow: /x # not this", bot, "/x", false},
		{"without colon", "User-agent SightlineBot | Disallow /x", bot, "/x", false},
		{"spaces around", "  User-agent :  SightlineBot   |  Disallow :  /x  ", bot, "/x", false},
		{"byte order mark", "\ufeffUser-agent: * | Disallow: /x", bot, "/x", false},
	} {
		if got := !robots.Parse(lines(c.file)).Match(c.agent, c.path).Disallow; got != c.want {
			t.Errorf("%s: %s may fetch %s: %v", c.name, c.agent, c.path, got)
		}
	}
}

func TestLineEndings(t *testing.T) {
	for _, file := range []string{"User-agent: *\rDisallow: /x", "User-agent: *\r\nDisallow: /x\r\n", "User-agent: *\n\r\nDisallow: /x"} {
		if !robots.Parse([]byte(file)).Match(bot, "/x").Disallow {
			t.Errorf("%q allows /x", file)
		}
	}
}

// A path is matched from its start, with * for anything and a closing $ for the end.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no string // paths separated by spaces
	}{
		{"/", "/ /x /x?y", ""},
		{"/fish", "/fish /fish.html /fish/salmon.html /fishheads /fish.php?id=anything", "/Fish.asp /catfish /?id=fish /desert/fish"},
		{"/fish*", "/fish /fish.html /fish/salmon.html /fishheads/yummy.html /fish.php?id=x", "/Fish.asp /catfish /?id=fish"},
		{"/fish/", "/fish/ /fish/?id=anything /fish/salmon.htm", "/fish /fish.html /animals/fish/ /Fish/Salmon.asp"},
		{"/*.php", "/index.php /filename.php /folder/filename.php?parameters /folder/any.php.file.html /filename.php/", "/ /windows.PHP"},
		{"/*.php$", "/filename.php /folder/filename.php /a.php.php", "/filename.php?parameters /filename.php/ /filename.php5 /windows.PHP"},
		{"/fish*.php", "/fish.php /fishheads/catfish.php?parameters", "/Fish.PHP"},
		{"/a*b*c$", "/abc /a1b2c /abcbc", "/ab /abcd /acb"},
		{"/a*b*bc$", "/abbc /axbxbc", "/abc"},
		{"/page$", "/page", "/page2 /page?x /page/"},
		{"/$", "/", "/x /?x"},
		{"*", "/ /x", ""},
		{"/**x", "/x /ax", "/"},
		{"/x?y=1", "/x?y=1 /x?y=12", "/x /x?z"},
		{"/*?", "/x?y /?", "/x"},
		{"/a$b", "/a$b /a$bc", "/a /ab"},
		{"fish", "", "/fish /xfish"},
	} {
		file := robots.Parse([]byte("User-agent: *\nDisallow: " + c.pattern))
		for path := range strings.FieldsSeq(c.yes) {
			if !file.Match(bot, path).Disallow {
				t.Errorf("%s does not match %s", c.pattern, path)
			}
		}
		for path := range strings.FieldsSeq(c.no) {
			if file.Match(bot, path).Disallow {
				t.Errorf("%s matches %s", c.pattern, path)
			}
		}
	}
}

// However a path is escaped, in the file or in the address, it is the same path.
func TestEscapes(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/foo/bar?baz=quz", "/foo/bar?baz=quz", true},
		{"/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", true},
		{"/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar", true},
		{"/*https://foo", "/foo/bar?baz=https://foo.bar", true},
		{"/foo/bar/ツ", "/foo/bar/%E3%83%84", true},
		{"/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84", true},
		{"/foo/bar/%E3%83%84", "/foo/bar/ツ", true},
		{"/foo/bar/%62%61%7A", "/foo/bar/baz", true},
		{"/foo/bar/baz", "/foo/bar/%62%61%7A", true},
		{"/a%2Fb", "/a/b", false},
		{"/a/b", "/a%2Fb", false},
		{"/path/file-with-a-%2A.html", "/path/file-with-a-*.html", true},
		{"/path/file-with-a-%2A.html", "/path/file-with-a-b.html", false},
		{"/path/foo-%24", "/path/foo-$", true},
		{"/path/foo-%24", "/path/foo-", false},
		{"/100%", "/100%", true},
		{"/100%zz", "/100%zz", true},
	} {
		if got := robots.Parse([]byte("User-agent: *\nDisallow: "+c.pattern)).Match(bot, c.path).Disallow; got != c.want {
			t.Errorf("%s matches %s: %v", c.pattern, c.path, got)
		}
	}
}

// The longest rule decides, wherever it stands; of two as long the one that allows.
func TestPrecedence(t *testing.T) {
	for _, c := range []struct{ rules, path, want string }{
		{"Allow: /p | Disallow: /", "/page", "Allow: /p"},
		{"Disallow: / | Allow: /p", "/page", "Allow: /p"},
		{"Allow: /folder | Disallow: /folder", "/folder/page", "Allow: /folder"},
		{"Disallow: /folder | Allow: /folder", "/folder/page", "Allow: /folder"},
		{"Allow: /page | Disallow: /*.htm", "/page.htm", "Disallow: /*.htm"},
		{"Allow: /page | Disallow: /*.ph", "/page.php5", "Allow: /page"},
		{"Allow: /$ | Disallow: /", "/", "Allow: /$"},
		{"Allow: /$ | Disallow: /", "/page.htm", "Disallow: /"},
		{"Disallow: /a | Disallow: /a/b | Allow: /a/b/c", "/a/b/c/d", "Allow: /a/b/c"},
		{"Disallow: /a | Disallow: /a/b | Allow: /a/b/c", "/a/b/d", "Disallow: /a/b"},
		{"Disallow: /example/page/disallow.gif | Allow: /example/page/", "/example/page/disallow.gif", "Disallow: /example/page/disallow.gif"},
		{"Allow: | Disallow: /", "/x", "Disallow: /"},
		{"Disallow: | Allow: /y", "/x", ""},
	} {
		if got := robots.Parse(lines("User-agent: * | "+c.rules)).Match(bot, c.path); got.Text != c.want || got.Disallow != strings.HasPrefix(c.want, "D") {
			t.Errorf("%s for %s: %q decides, want %q", c.rules, c.path, got.Text, c.want)
		}
	}
}

func TestDelayAndSitemaps(t *testing.T) {
	file := robots.Parse(lines("User-agent: Slow | Crawl-delay: 1e30 | User-agent: * | User-agent: Other | Crawl-delay: 2.5 | Disallow: /x"))
	for agent, want := range map[string]time.Duration{"slow": robots.MaxDelay, "other": 2500 * time.Millisecond, bot: 2500 * time.Millisecond} {
		if got := file.Delay(agent); got != want || !file.Match(agent, "/x").Disallow {
			t.Errorf("%s is asked for a delay of %v, want %v", agent, got, want)
		}
	}
	file = robots.Parse(lines("Sitemap: https://a.example/1.xml | User-agent: * | sitemap: HTTP://a.example/2.xml | Sitemap: /relative.xml"))
	if want := []string{"https://a.example/1.xml", "HTTP://a.example/2.xml"}; !slices.Equal(file.Sitemaps, want) {
		t.Errorf("sitemaps %q", file.Sitemaps)
	}
}

func TestProblems(t *testing.T) {
	for _, c := range []struct {
		file string
		line int
		want string
	}{
		{"User-agent: * | Dissallow: /x", 2, `"Dissallow" is not a directive`},
		{"User-agent: * | Noindex: /x", 2, `"Noindex" is not a directive`},
		{"User-agent: * |  | hello world", 3, "not a directive with a colon"},
		{"<!doctype html>", 1, "not a directive with a colon"},
		{"Disallow: /x", 1, "before the first user-agent"},
		{"Crawl-delay: 1", 1, "before the first user-agent"},
		{"User-agent: * | Crawl-delay: soon", 2, "not a number of seconds"},
		{"User-agent: * | Crawl-delay: -1", 2, "not a number of seconds"},
		{"User-agent: * | Disallow /x", 2, `colon after "Disallow" is missing`},
		{"User-agent: * | Disallow: x", 2, "does not begin with / or *"},
		{"User-agent: | Disallow: /", 1, "no name"},
		{"Sitemap: /sitemap.xml", 1, "not a whole address"},
		{"User-agent: * | Disallow: /\xff", 2, "not UTF-8"},
	} {
		problems := robots.Parse(lines(c.file)).Problems
		if len(problems) != 1 || problems[0].Line != c.line || !strings.Contains(problems[0].Text, c.want) {
			t.Errorf("%s: %+v, want %q at line %d", c.file, problems, c.want, c.line)
		}
	}
	if p := robots.Parse(lines("# fine | User-agent: * | Allow: / | Disallow: | Crawl-delay: 1 | Host: a.example | Sitemap: https://a.example/s")).Problems; p != nil {
		t.Errorf("a file without problems has %+v", p)
	}
	if n := len(robots.Parse([]byte(strings.Repeat("nonsense\n", 1000))).Problems); n != 100 {
		t.Errorf("%d problems are kept", n)
	}
}

// What lies beyond the size is ignored, and said so; what lies within is not.
func TestSize(t *testing.T) {
	head := "User-agent: *\nDisallow: /a\n#"
	tail := "\nDisallow: /b\n"
	fits := robots.Parse([]byte(head + strings.Repeat("x", robots.MaxSize-len(head)-len(tail)) + tail))
	if !fits.Match(bot, "/b").Disallow || fits.Problems != nil {
		t.Errorf("the end of a file of the greatest size is not read: %+v", fits.Problems)
	}
	large := robots.Parse([]byte(head + strings.Repeat("x", robots.MaxSize) + tail))
	if !large.Match(bot, "/a").Disallow || large.Match(bot, "/b").Disallow || len(large.Problems) != 1 {
		t.Errorf("a file that is too large: %+v", large.Problems)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /*.php$\nAllow: /a\nCrawl-delay: 1\nSitemap: https://a.example/s"), "/a.php")
	f.Add([]byte("\xef\xbb\xbfuser-agent sightlinebot\r\rdisallow /%zz*%2a$$"), "/%zz*?a=b:c")
	f.Add([]byte("Disallow:\x00/\nUser-agent:*\nDisallow:*$"), "")
	f.Fuzz(func(t *testing.T, text []byte, target string) {
		file := robots.Parse(text)
		rule := file.Match(bot, target)
		if rule.Disallow && (rule.Line == 0 || rule.Text == "") || !utf8.ValidString(rule.Text) || len(rule.Text) > 400 {
			t.Fatalf("%+v decides", rule)
		}
		if d := file.Delay(bot); d < 0 || d > robots.MaxDelay {
			t.Fatalf("delay %v", d)
		}
	})
}
