// Package agent says what a user agent is: which browser on which system and device, and whether a person is behind it.
package agent

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mileusna/useragent"

	"sightline/internal/analytics"
	"sightline/internal/collect/recent"
)

const (
	maxLength  = 1024 // bytes of a user agent that are looked at
	maxName    = 40   // bytes of a browser's or system's name
	remembered = 4096 // user agents
)

// An Agent is what a user agent says of itself.
type Agent struct {
	Browser, BrowserVersion string
	OS, OSVersion           string
	Device                  string // one of the device names of package analytics
}

// A Reader reads user agents. It remembers those that it has read lately, as most visitors share a few. It is safe for
// concurrent use.
type Reader struct {
	known *recent.Cache[string, Agent]
}

// NewReader makes a reader.
func NewReader() *Reader {
	return &Reader{known: recent.New[string, Agent](remembered)}
}

// Read says what a user agent is.
func (r *Reader) Read(text string) Agent {
	text = Cut(text)
	if agent, found := r.known.Find(text); found {
		return agent
	}
	agent := Parse(text)
	r.known.Put(strings.Clone(text), agent) // not the whole request that it may be part of
	return agent
}

// Cut is the part of a user agent that counts.
func Cut(text string) string {
	if len(text) <= maxLength {
		return text
	}
	end := maxLength
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// Parse says what a user agent is, without remembering it.
func Parse(text string) Agent {
	parsed := useragent.Parse(text)
	agent := Agent{OS: name(systems, parsed.OS), OSVersion: short(parsed.OSVersion), Device: device(text, parsed)}
	agent.Browser, agent.BrowserVersion = browser(text, parsed)
	if agent.OS == useragent.Windows {
		agent.OSVersion = windows(parsed.OSVersion)
	}
	if agent.OS == useragent.Linux || agent.OS == useragent.ChromeOS { // what follows them is a processor
		agent.OSVersion = ""
	}
	if agent.OS == "" {
		agent.OS, agent.OSVersion = elsewhere(text)
	}
	return agent
}

// Browsers that are built on another and add a mark, which is followed by their version.
var marked = []struct{ mark, name string }{
	{"UCBrowser/", "UC Browser"}, {"UBrowser/", "UC Browser"}, {"YaBrowser/", "Yandex Browser"}, {"DuckDuckGo/", "DuckDuckGo"}, {"Ddg/", "DuckDuckGo"},
	{"Silk/", "Amazon Silk"}, {"OculusBrowser/", "Meta Quest Browser"}, {"GSA/", "Google App"}, {"GoogleApp/", "Google App"}, {"OPT/", "Opera"},
	{"MicroMessenger/", "WeChat"}, {"Snapchat/", "Snapchat"}, {"[Pinterest/", "Pinterest"}, {"LinkedInApp", "LinkedIn"}, {" Line/", "Line"},
	{"musical_ly", "TikTok"}, {"BytedanceWebview", "TikTok"}, {"KAKAOTALK", "KakaoTalk"}, {"NAVER(", "Naver"}, {"Whale/", "Naver Whale"},
	{"MiuiBrowser/", "Mi Browser"}, {"VivoBrowser/", "Vivo Browser"}, {"HeyTapBrowser/", "HeyTap Browser"}, {"QQBrowser/", "QQ Browser"},
	{"coc_coc_browser/", "Coc Coc"}, {"AvastSecureBrowser/", "Avast"}, {"Epiphany/", "Epiphany"}, {"; rv:11.0) like Gecko", "Internet Explorer"},
}

// browser finds which browser an agent is.
func browser(text string, parsed useragent.UserAgent) (shown, version string) {
	for _, m := range marked {
		if _, after, found := strings.Cut(text, m.mark); found {
			if m.name == "Internet Explorer" {
				after = "11"
			}
			return m.name, major(after)
		}
	}
	if shown = name(browsers, parsed.Name); shown == "" {
		return "", ""
	}
	return shown, major(parsed.Version)
}

// Names that the library gives and site owners know otherwise.
var (
	browsers = map[string]string{
		"Headless Chrome": "Chrome", "Facebook App": "Facebook", "Instagram App": "Instagram", "TikTok App": "TikTok", "Samsung Browser": "Samsung Internet",
		"Miui Browser": "Mi Browser", "Android browser": "Android Browser",
	}
	systems = map[string]string{"Windows NT": useragent.Windows, "CrOS": useragent.ChromeOS, "Harmony": "HarmonyOS"}
)

// name is how something is shown. What is not like a name is not known.
func name(shown map[string]string, found string) string {
	if better, known := shown[found]; known {
		return better
	}
	if found == "" || len(found) > maxName || strings.ContainsFunc(found, unlikely) {
		return ""
	}
	return found
}

// unlikely says that a character is in no browser's name.
func unlikely(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(" ._-+!", r)
}

// major is the first number of a version.
func major(version string) string {
	first, _, _ := strings.Cut(number(version), ".")
	return first
}

// short is the first two numbers of a version, or one if the second is 0.
func short(version string) string {
	first, rest, _ := strings.Cut(number(version), ".")
	second, _, _ := strings.Cut(rest, ".")
	if second == "" || second == "0" {
		return first
	}
	return first + "." + second
}

// number is what a version begins with: digits and dots, a few.
func number(version string) string {
	end := 0
	for end < len(version) && end < 12 && (version[end] == '.' || version[end] >= '0' && version[end] <= '9') {
		end++
	}
	return version[:end]
}

// windows is the name of a Windows by its inner number. 11 calls itself 10.
func windows(nt string) string {
	known := map[string]string{"5.1": "XP", "5.2": "XP", "6.0": "Vista", "6.1": "7", "6.2": "8", "6.3": "8.1", "10.0": "10", "11.0": "11"}
	if shown, found := known[nt]; found {
		return shown
	}
	return short(nt)
}

// elsewhere finds systems that the library does not know.
func elsewhere(text string) (os, version string) {
	for _, system := range []struct{ marker, name string }{
		{"Tizen ", "Tizen"}, {"Web0S", "webOS"}, {"webOS", "webOS"}, {"PlayStation", "PlayStation"}, {"Nintendo", "Nintendo"},
		{"Xbox", "Xbox"}, {"KAIOS/", "KaiOS"}, {"Roku/DVP-", "Roku"}, {"FreeBSD", "FreeBSD"}, {"OpenBSD", "OpenBSD"}, {"iPod", useragent.IOS},
	} {
		if _, after, found := strings.Cut(text, system.marker); found {
			if strings.HasSuffix(system.marker, " ") || strings.HasSuffix(system.marker, "/") || strings.HasSuffix(system.marker, "-") {
				version = short(after)
			}
			return system.name, version
		}
	}
	return "", ""
}

// Marks of devices that stand in living rooms; consoles are played on a television as well.
var televisions = []string{
	"SMART-TV", "SmartTV", "Smart TV", "smart-tv", "HbbTV", "AppleTV", "Apple TV", "Android TV", "GoogleTV", "Google TV", "BRAVIA", "Web0S", "NetCast",
	"CrKey", "Roku", "VIDAA", "Viera", "TV Safari", "; AFT", "MiTV", "PlayStation", "Xbox", "Nintendo", "DTV", "Large Screen",
}

// device says on what a page is looked at.
func device(text string, parsed useragent.UserAgent) string {
	television := func(mark string) bool { return strings.Contains(text, mark) }
	switch {
	case IsBot(text):
		return analytics.Bot
	case slices.ContainsFunc(televisions, television):
		return analytics.TV
	case parsed.Tablet || parsed.OS == useragent.Android && unlikePhone(text):
		return analytics.Tablet
	case parsed.Mobile || strings.Contains(text, "Mobile"):
		return analytics.Mobile
	}
	return analytics.Desktop
}

// unlikePhone says that a browser on Android does not call itself mobile, as those of tablets do; headsets do not either.
func unlikePhone(text string) bool {
	return strings.Contains(text, "Chrome/") && !strings.Contains(text, "Mobile") && !strings.Contains(text, " VR ")
}
