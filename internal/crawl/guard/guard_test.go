package guard_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"sightline/internal/crawl/address"
	"sightline/internal/crawl/guard"
)

func at(t *testing.T, text string) address.Address {
	t.Helper()
	a, err := address.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var loopback = guard.Rules{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}

func TestWhereRequestsMayGo(t *testing.T) {
	local := guard.Rules{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8")}, AllowPorts: []uint16{8080}}
	for _, c := range []struct {
		rules guard.Rules
		to    string // addresses with ports, separated by spaces
		want  guard.Kind
	}{
		{guard.Rules{}, "8.8.8.8:80 8.8.8.8:443 [2606:4700::1]:443", ""},
		{guard.Rules{}, "8.8.8.8:22 8.8.8.8:8080 [2606:4700::1]:25 8.8.8.8:0", guard.BlockedPort},
		{guard.Rules{}, "0.0.0.0:80 0.1.2.3:80 10.0.0.1:80 100.64.0.1:80 127.0.0.1:80 127.255.255.255:443 169.254.169.254:80 172.16.0.1:80 172.31.255.255:80 192.0.0.1:80 " +
			"192.0.2.1:80 192.31.196.1:80 192.52.193.1:80 192.88.99.1:80 192.168.1.1:80 192.175.48.1:80 198.18.0.1:80 198.51.100.1:80 203.0.113.1:80 224.0.0.1:80 240.0.0.1:80 255.255.255.255:80", guard.BlockedAddress},
		{guard.Rules{}, "[::]:80 [::1]:80 [::ffff:127.0.0.1]:80 [::ffff:10.0.0.1]:80 [::127.0.0.1]:80 [64:ff9b::7f00:1]:80 [64:ff9b:1::1]:80 [100::1]:80 [2001::1]:80 [2001:db8::1]:80 " +
			"[2002:7f00:1::]:80 [2620:4f:8000::1]:80 [3fff::1]:80 [5f00::1]:80 [fc00::1]:80 [fd12::1]:80 [fe80::1]:80 [fe80::1%lo]:80 [fec0::1]:80 [ff02::1]:80", guard.BlockedAddress},
		{local, "10.1.2.3:80 10.1.2.3:22 [::ffff:10.1.2.3]:9999 [fd12::1]:5432 8.8.8.8:8080", ""},
		{local, "10.2.0.1:80 127.0.0.1:8080 [fe80::1]:80", guard.BlockedAddress},
		{local, "8.8.8.8:22", guard.BlockedPort},
		{guard.Rules{Unguarded: true}, "127.0.0.1:1 10.0.0.1:22 [::1]:80", ""},
	} {
		for to := range strings.FieldsSeq(c.to) {
			if got := guard.Verdict(c.rules, to); got != c.want {
				t.Errorf("%+v: %s is %q, want %q", c.rules, to, got, c.want)
			}
		}
	}
}

// The proxy of the environment is for others.
func TestNoProxy(t *testing.T) {
	asked := false
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	nowhere := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errRefused }}
	answer := guard.New(guard.Options{Rules: loopback, Resolver: nowhere}).Fetch(t.Context(), guard.Request{URL: at(t, "http://site.example/")})
	if asked || answer.Err == nil || answer.Err.Kind != guard.DNS {
		t.Errorf("the proxy was asked: %v; %v", asked, answer.Err)
	}
}

// A request asks for exactly what is written.
func TestRequest(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	requests := make(chan string, 1)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			head := make([]byte, 4096)
			n, _ := conn.Read(head)
			requests <- string(head[:n])
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
			conn.Close()
		}
	}()
	client := guard.New(guard.Options{Rules: loopback, Agent: "SightlineBot/1.0"})
	origin := "http://" + listener.Addr().String()
	for target, want := range map[string]string{
		"/": "/", "/a?b=c": "/a?b=c", "/a%2Fb%20c": "/a%2Fb%20c", "/100%": "/100%", "/a|b?c=d|e": "/a|b?c=d|e", "//a/b": origin + "//a/b", "/ü": "/%C3%BC",
	} {
		answer := client.Fetch(t.Context(), guard.Request{URL: at(t, origin+target)})
		want = "GET " + want + " HTTP/1.1\r\nHost: " + listener.Addr().String() + "\r\nUser-Agent: SightlineBot/1.0\r\n" +
			"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\nAccept-Encoding: gzip\r\n\r\n"
		if got := <-requests; answer.Err != nil || got != want {
			t.Errorf("%s is asked for by %q, want %q; %v", target, got, want, answer.Err)
		}
	}
}

// Every hop is kept, with its time; the body is that of the last, decoded and measured.
func TestHops(t *testing.T) {
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	io.WriteString(zip, strings.Repeat("hello ", 1000))
	zip.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("X-Hop", "first")
			http.Redirect(w, r, "/two?x=1", http.StatusMovedPermanently)
		case "/two":
			time.Sleep(20 * time.Millisecond)
			http.Redirect(w, r, "three", http.StatusTemporaryRedirect)
		default:
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(zipped.Bytes())
		}
	}))
	defer server.Close()
	client := guard.New(guard.Options{Rules: loopback})
	gate := &gate{}
	var body bytes.Buffer
	answer := client.Fetch(t.Context(), guard.Request{URL: at(t, server.URL), Gate: gate, Read: func(_ *guard.Hop, from io.Reader) { body.ReadFrom(from) }})
	if answer.Err != nil || len(answer.Hops) != 3 {
		t.Fatalf("%d hops, %v", len(answer.Hops), answer.Err)
	}
	var got []string
	for _, hop := range answer.Hops {
		got = append(got, fmt.Sprintf("%s %d %s", hop.URL.Target, hop.Status, strings.TrimPrefix(hop.Location, server.URL)))
		if hop.FirstByte <= 0 || hop.Time < hop.FirstByte || hop.Proto != "HTTP/1.1" {
			t.Errorf("hop %s: first byte after %v of %v", hop.URL.URL, hop.FirstByte, hop.Time)
		}
	}
	if want := "[/ 301 /two?x=1 /two?x=1 307 /three /three 200 ]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	last := answer.Last()
	if last.Size != 6000 || last.Wire != int64(zipped.Len()) || body.Len() != 6000 || answer.Hops[0].Header.Get("X-Hop") != "first" || answer.Hops[1].FirstByte < 20*time.Millisecond {
		t.Errorf("%d bytes came as %d", last.Size, last.Wire)
	}
	if gate.entered != 3 || gate.left != 3 {
		t.Errorf("the gate was entered %d times and left %d times", gate.entered, gate.left)
	}
}

// A gate counts, and refuses from a certain hop on.
type gate struct{ entered, left, refuseAt int }

var errRefused = errors.New("refused")

func (g *gate) Enter(context.Context, address.Address, http.Header) error {
	if g.entered++; g.entered == g.refuseAt {
		return &guard.Failure{Kind: guard.Robots, Text: "no", Err: errRefused}
	}
	return nil
}

func (g *gate) Leave(*guard.Hop, *guard.Failure) { g.left++ }

func TestGateRefuses(t *testing.T) {
	server := httptest.NewServer(http.RedirectHandler("/next", http.StatusFound))
	defer server.Close()
	gate := &gate{refuseAt: 2}
	answer := guard.New(guard.Options{Rules: loopback}).Fetch(t.Context(), guard.Request{URL: at(t, server.URL), Gate: gate})
	if !errors.Is(answer.Err, errRefused) || len(answer.Hops) != 2 || answer.Hops[1].Status != 0 || gate.left != 1 {
		t.Errorf("%d hops, %v, left %d times", len(answer.Hops), answer.Err, gate.left)
	}
}

func TestFailures(t *testing.T) {
	stalled, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stalled.Close()
	client := guard.New(guard.Options{Rules: loopback, Limits: guard.Limits{Time: 50 * time.Millisecond}})
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		ctx  context.Context
		url  string
		want guard.Kind
	}{
		{t.Context(), "http://" + stalled.Addr().String(), guard.Timeout},
		{stopped, "http://" + stalled.Addr().String(), guard.Canceled},
		{t.Context(), "http://10.0.0.1/", guard.BlockedAddress},
		{t.Context(), "http://127.0.0.1:1/", guard.Refused},
	} {
		answer := client.Fetch(c.ctx, guard.Request{URL: at(t, c.url)})
		if answer.Err == nil || answer.Err.Kind != c.want || answer.Err.Text == "" || answer.Err.Down() != (c.want != guard.Canceled) {
			t.Errorf("%s: %+v", c.url, answer.Err)
		}
	}
}
