package agent

import (
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"sightline/internal/analytics"
)

var update = flag.Bool("update", false, "rewrite crawlers.txt from the list in testdata")

// A crawler is an entry of the list, of which testdata holds these two fields.
type crawler struct {
	Pattern   string   `json:"pattern"`
	Instances []string `json:"instances"`
}

func readCrawlers(t testing.TB) []crawler {
	t.Helper()
	data, err := os.ReadFile("testdata/crawler-user-agents.json")
	var all []crawler
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil || len(all) < 1000 {
		t.Fatalf("%d crawlers: %v", len(all), err)
	}
	return all
}

// A person is a line of browsers.txt.
type person struct{ device, browser, system, agent string }

func readPeople(t testing.TB) []person {
	t.Helper()
	data, err := os.ReadFile("testdata/browsers.txt")
	if err != nil {
		t.Fatal(err)
	}
	var people []person
	for line := range strings.Lines(string(data)) {
		if fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(fields) == 4 {
			people = append(people, person{fields[0], fields[1], fields[2], fields[3]})
		}
	}
	if len(people) < 200 {
		t.Fatalf("only %d people", len(people))
	}
	return people
}

// What is built in is the list in testdata. After a new list: go test -run PatternsAreTheList -update.
func TestPatternsAreTheList(t *testing.T) {
	var lines strings.Builder
	for _, c := range readCrawlers(t) {
		lines.WriteString(c.Pattern + "\n")
	}
	if *update {
		if err := os.WriteFile("crawlers.txt", []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		crawlers = lines.String()
	}
	if crawlers != lines.String() {
		t.Error("crawlers.txt differs from the list in testdata: run this test with -update")
	}
}

func TestBotsAreFound(t *testing.T) {
	all, missed := 0, 0
	for _, c := range readCrawlers(t) {
		for _, instance := range c.Instances {
			if all++; !IsBot(instance) {
				missed++
				t.Logf("missed: %s", instance)
			}
		}
	}
	t.Logf("%d of %d missed", missed, all)
	if all < 2000 || missed*100 > all {
		t.Errorf("%d of %d samples of the list are not found; at most one in a hundred may be", missed, all)
	}
	for _, bot := range []string{"", "  ", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/124.0.0.0 Safari/537.36",
		"Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) PhantomJS/2.1.1 Safari/538.1", "New/1.0 (+https://new.example/about)"} {
		if !IsBot(bot) {
			t.Errorf("%q is a bot", bot)
		}
	}
}

func TestPeopleAreNoBots(t *testing.T) {
	for _, p := range readPeople(t) {
		if IsBot(p.agent) {
			t.Errorf("taken for a bot: %s", p.agent)
		}
	}
}

// The literals only save work: each pattern alone says the same.
func TestLiteralsChangeNothing(t *testing.T) {
	var patterns []*regexp.Regexp
	for _, c := range readCrawlers(t) {
		patterns = append(patterns, regexp.MustCompile(c.Pattern))
	}
	if slow := list().always; len(slow) > 0 {
		t.Errorf("%d patterns have no literal and are tried on every agent: %v", len(slow), slow)
	}
	plain := &bots{byStart: map[trigram][]candidate{}}
	for pattern := range strings.Lines(crawlers) {
		plain.addPattern(strings.TrimSuffix(pattern, "\n"))
	}
	texts := []string{"wget", "xwget", "curl/8", "x curl/8", "SSL Labs", "SSL Labs x", "Rigor)", "sentry/1", " sentry/1", "xsentry/1", "Sistrix crawler", "sistrix crawler"}
	for i, p := range readPeople(t) {
		if i%10 == 0 {
			texts = append(texts, p.agent)
		}
	}
	for _, text := range texts {
		want := false
		for _, pattern := range patterns {
			want = want || pattern.MatchString(text)
		}
		if got := plain.matches(text); got != want {
			t.Errorf("%q: got %v, the patterns one by one say %v", text, got, want)
		}
	}
}

func TestAgents(t *testing.T) {
	for _, p := range readPeople(t) {
		got := Parse(p.agent)
		if got.Device != p.device || p.browser != "*" && got.Browser != p.browser || p.system != "*" && got.OS != strings.Trim(p.system, "-") {
			t.Errorf("%s\n got %+v, want %s %s %s", p.agent, got, p.device, p.browser, p.system)
		}
	}
}

func TestVersions(t *testing.T) {
	const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.6478.71 Safari/537.36"
	tests := []struct {
		agent string
		want  Agent
	}{
		{chrome, Agent{"Chrome", "126", "Windows", "10", "desktop"}},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
			Agent{"Safari", "17", "iOS", "17.5", "mobile"}},
		{"Mozilla/5.0 (Linux; Android 13; Pixel 7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/110.0.0.0 Mobile Safari/537.36", Agent{"Chrome", "110", "Android", "13", "mobile"}},
		{"Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko", Agent{"Internet Explorer", "11", "Windows", "7", "desktop"}},
		{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", Agent{"Googlebot", "2", "", "", "bot"}},
		{"<script>alert(1)</script>/1.0", Agent{Device: "desktop"}},
		{"", Agent{Device: "bot"}},
	}
	for _, test := range tests {
		if got := Parse(test.agent); got != test.want {
			t.Errorf("%s\n got %+v\nwant %+v", test.agent, got, test.want)
		}
	}
}

func FuzzAgent(f *testing.F) {
	f.Add("Mozilla/5.0 (Linux; Android 13; Pixel 7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/110.0.0.0 Mobile Safari/537.36")
	f.Add("Opera/9.80 (J2ME/MIDP; Opera Mini/9.80/191.303; U; en) Presto/2.5.25 Version/10.54")
	f.Add("(((;;;[[[///:::http://\x00\xff")
	reader := NewReader()
	devices := []string{analytics.Desktop, analytics.Mobile, analytics.Tablet, analytics.TV, analytics.Bot}
	f.Fuzz(func(t *testing.T, text string) {
		got := reader.Read(text)
		if again := reader.Read(text); again != got {
			t.Errorf("%q is %+v and then %+v", text, got, again)
		}
		known := false
		for _, device := range devices {
			known = known || device == got.Device
		}
		if !known {
			t.Errorf("%q has the device %q", text, got.Device)
		}
		for _, field := range []string{got.Browser, got.BrowserVersion, got.OS, got.OSVersion} {
			if len(field) > maxName || !utf8.ValidString(field) || strings.ContainsAny(field, "<>&\"'\x00") {
				t.Errorf("%q gave %q", text, field)
			}
		}
	})
}

func BenchmarkCold(b *testing.B) {
	people := readPeople(b)
	for i := 0; b.Loop(); i++ {
		Parse(people[i%len(people)].agent)
	}
}

func BenchmarkBotsCold(b *testing.B) {
	people := readPeople(b)
	for i := 0; b.Loop(); i++ {
		IsBot(people[i%len(people)].agent)
	}
}

func BenchmarkKnown(b *testing.B) {
	people, reader := readPeople(b), NewReader()
	for i := 0; b.Loop(); i++ {
		reader.Read(people[i%len(people)].agent)
	}
}
