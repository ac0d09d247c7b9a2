package origin_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"sightline/internal/web/origin"
)

// trusted are the proxies of these tests.
var trusted = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}

// headers are those in which proxies name the client.
var headers = []string{"X-Forwarded-For", "Forwarded", "X-Real-IP"}

const far, forged = "203.0.113.7", "6.6.6.6"

func TestClient(t *testing.T) {
	const xff, forwarded, realIP = "X-Forwarded-For", "Forwarded", "X-Real-IP"
	tests := []struct {
		name, peer, header string
		lines              []string // of the header
		want               string
	}{
		{"no proxy", far + ":1", xff, nil, far},
		{"no proxy, forged", far + ":1", xff, []string{forged}, far},
		{"no proxy, forged", far + ":1", forwarded, []string{"for=" + forged}, far},
		{"no proxy, forged", far + ":1", realIP, []string{forged}, far},
		{"IPv6", "[2001:db8::1]:1", xff, nil, "2001:db8::1"},
		{"IPv4 in IPv6", "[::ffff:203.0.113.7]:1", xff, nil, far},
		{"a zone", "[fe80::1%eth0]:1", xff, nil, "fe80::1"},
		{"a proxy as IPv4 in IPv6", "[::ffff:127.0.0.1]:1", xff, []string{far}, far},
		{"no address", "@", xff, []string{forged}, "invalid IP"},
		{"no header", "127.0.0.1:1", xff, nil, "127.0.0.1"},

		{"one proxy", "127.0.0.1:1", xff, []string{far}, far},
		{"one proxy, forged", "127.0.0.1:1", xff, []string{forged + ", " + far}, far},
		{"forged as one of ours", "127.0.0.1:1", xff, []string{"10.0.0.1, " + far}, far},
		{"two proxies", "127.0.0.1:1", xff, []string{forged + "," + far + ",10.0.0.2"}, far},
		{"three proxies", "[::1]:1", xff, []string{forged + ", " + far + ", fd00::1, 10.0.0.2"}, far},
		{"two lines", "127.0.0.1:1", xff, []string{forged, far + ", 10.0.0.2"}, far},
		{"a line for each", "127.0.0.1:1", xff, []string{forged, far, "10.0.0.2"}, far},
		{"all trusted", "127.0.0.1:1", xff, []string{"10.0.0.9, 10.0.0.8"}, "10.0.0.9"},
		{"with port", "127.0.0.1:1", xff, []string{far + ":4711"}, far},
		{"IPv6 with port", "127.0.0.1:1", xff, []string{"[2001:db8::1]:4711"}, "2001:db8::1"},
		{"IPv6 in brackets", "127.0.0.1:1", xff, []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"a mapped hop", "127.0.0.1:1", xff, []string{"::ffff:203.0.113.7"}, far},
		{"nonsense before", "127.0.0.1:1", xff, []string{"<script>, ,,unknown, " + far}, far},
		{"nonsense last", "127.0.0.1:1", xff, []string{forged + ", nonsense"}, "127.0.0.1"},
		{"nonsense in between", "127.0.0.1:1", xff, []string{forged + ", nonsense, 10.0.0.2"}, "10.0.0.2"},
		{"empty", "127.0.0.1:1", xff, []string{""}, "127.0.0.1"},
		{"an empty entry", "127.0.0.1:1", xff, []string{forged + ","}, "127.0.0.1"},
		{"a name", "127.0.0.1:1", xff, []string{"localhost"}, "127.0.0.1"},
		{"a zone from outside", "127.0.0.1:1", xff, []string{"fe80::1%eth0"}, "127.0.0.1"},
		{"another spelling", "127.0.0.1:1", xff, []string{"0x7f.1"}, "127.0.0.1"},
		{"absurdly many", "127.0.0.1:1", xff, []string{forged + strings.Repeat(",10.0.0.2", 10_000)}, "10.0.0.2"},
		{"absurdly long", "127.0.0.1:1", xff, []string{strings.Repeat("9", 100_000)}, "127.0.0.1"},

		{"forwarded", "127.0.0.1:1", forwarded, []string{"for=" + far}, far},
		{"forwarded, forged", "127.0.0.1:1", forwarded, []string{"for=" + forged + ";proto=https, For=" + far + ";by=10.0.0.1"}, far},
		{"quoted IPv6", "127.0.0.1:1", forwarded, []string{`for="[2001:db8::1]"`}, "2001:db8::1"},
		{"quoted IPv6 with port", "127.0.0.1:1", forwarded, []string{`proto=https;for="[2001:db8::1]:4711"`}, "2001:db8::1"},
		{"quoted IPv4 with port", "127.0.0.1:1", forwarded, []string{`for="203.0.113.7:4711" ; host=x`}, far},
		{"two hops", "127.0.0.1:1", forwarded, []string{`for=` + far + `, for="[fd00::1]"`}, far},
		{"two lines", "127.0.0.1:1", forwarded, []string{"for=" + forged, "for=" + far, "for=10.0.0.2"}, far},
		{"hidden", "127.0.0.1:1", forwarded, []string{"for=" + forged + ", for=_hidden"}, "127.0.0.1"},
		{"unknown", "127.0.0.1:1", forwarded, []string{"for=" + forged + ", for=unknown, for=10.0.0.2"}, "10.0.0.2"},
		{"without for", "127.0.0.1:1", forwarded, []string{"for=" + forged + ", proto=https"}, "127.0.0.1"},
		{"for twice", "127.0.0.1:1", forwarded, []string{"for=" + far + ";for=" + forged}, "127.0.0.1"},
		{"an open quote before", "127.0.0.1:1", forwarded, []string{`for=` + forged + `;x=", for=` + far}, far},
		{"an open quote before a quoted hop", "127.0.0.1:1", forwarded, []string{`for=` + forged + `;x=", for="[2001:db8::1]"`}, "2001:db8::1"},
		{"a comma in quotes", "127.0.0.1:1", forwarded, []string{`for=` + far + `;host="a, for=6.6.6.6"`}, far},
		{"an escaped quote", "127.0.0.1:1", forwarded, []string{`for=` + far + `;host="a\", for=6.6.6.6"`}, far},
		{"a semicolon in quotes", "127.0.0.1:1", forwarded, []string{`for=` + far + `;host="a;for=6.6.6.6"`}, far},
		{"only quotes", "127.0.0.1:1", forwarded, []string{`"""`, `for="`}, "127.0.0.1"},

		{"real ip", "127.0.0.1:1", realIP, []string{far}, far},
		{"real ip, a list", "127.0.0.1:1", realIP, []string{forged + ", " + far}, "127.0.0.1"},
		{"real ip, two lines", "127.0.0.1:1", realIP, []string{forged, far}, far},
		{"real ip, trusted", "127.0.0.1:1", realIP, []string{forged, "10.0.0.2"}, "10.0.0.2"},
	}
	for _, test := range tests {
		header := http.Header{}
		for _, other := range headers { // what a caller wrote and the proxy let pass
			header[http.CanonicalHeaderKey(other)] = []string{forged}
		}
		header[http.CanonicalHeaderKey(test.header)] = test.lines
		got := origin.Proxies{Trusted: trusted, Header: test.header}.Client(&http.Request{RemoteAddr: test.peer, Header: header})
		if got.String() != test.want {
			t.Errorf("%s: %s from %s %.100q: %s, want %s", test.name, test.header, test.peer, test.lines, got, test.want)
		}
	}
}

func TestNobodyTrusted(t *testing.T) {
	r := &http.Request{RemoteAddr: "127.0.0.1:1", Header: http.Header{"X-Forwarded-For": {forged}}}
	if got := (origin.Proxies{Header: "X-Forwarded-For"}).Client(r); got.String() != "127.0.0.1" {
		t.Errorf("%s", got)
	}
}

// Whatever a caller writes, the address that a proxy adds after it wins.
func FuzzClient(f *testing.F) {
	for _, seed := range []string{"", ",", `"`, `\`, `for="`, `for=1.2.3.4;x="\`, "1.2.3.4, ", "[", "::1%", `a"b\"c,`, "for=for=", "\xff\x00"} {
		f.Add(seed, far)
		f.Add(seed, "2001:db8::1")
	}
	f.Fuzz(func(t *testing.T, written, peer string) {
		client, err := netip.ParseAddr(peer)
		if err != nil || client.Zone() != "" {
			return
		}
		for header, added := range map[string]string{"X-Forwarded-For": ", " + peer, "Forwarded": `, for="[` + peer + `]"`} {
			for _, lines := range [][]string{{written + added}, {written, added[2:]}} {
				r := &http.Request{RemoteAddr: "127.0.0.1:1", Header: http.Header{header: lines}}
				got := origin.Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Header: header}.Client(r)
				if client = client.Unmap(); got != client && client != netip.MustParseAddr("127.0.0.1") {
					t.Errorf("%s: %q: %s, want %s", header, lines, got, client)
				}
			}
		}
		r := &http.Request{RemoteAddr: written, Header: http.Header{"X-Forwarded-For": {peer}}}
		(origin.Proxies{Trusted: trusted, Header: "X-Forwarded-For"}).Client(r)
	})
}
