package crawl_test

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sightline/internal/crawl"
)

func allBeasts() []beast {
	return slices.Concat(slowBeasts(), bodyBeasts(), redirectBeasts(), headerBeasts(), secureBeasts(), siteBeasts())
}

func slowBeasts() []beast {
	return []beast{
		{name: "drips headers", want: "timeout", serve: func(z *zoo) string {
			return z.raw(func(c net.Conn) { io.WriteString(c, okHead); forever(c, "X-A: b\r\n", 50*time.Millisecond) })
		}},
		{name: "drips its status line", want: "timeout", serve: func(z *zoo) string {
			return z.raw(func(c net.Conn) { forever(c, "H", 50*time.Millisecond) })
		}},
		{name: "drips its body", want: "timeout", serve: handle(func(w http.ResponseWriter, _ *http.Request) { forever(w, "x", 50*time.Millisecond) })},
		{name: "never answers", want: "timeout", serve: func(z *zoo) string {
			return z.raw(func(c net.Conn) { io.Copy(io.Discard, c) })
		}},
		{name: "accepts and never reads", want: "timeout", serve: func(z *zoo) string {
			return z.blunt("http", func(c net.Conn) { io.Copy(io.Discard, c) })
		}},
		{name: "never shakes hands", want: "timeout", serve: func(z *zoo) string {
			return z.blunt("https", func(c net.Conn) { io.Copy(io.Discard, c) })
		}},
		{name: "stalls in the middle of its body", want: "timeout", serve: func(z *zoo) string {
			return z.raw(func(c net.Conn) { io.WriteString(c, okHead+"Content-Length: 100\r\n\r\nhalf"); io.Copy(io.Discard, c) })
		}},
		{name: "resets at once", want: "reset", serve: func(z *zoo) string { return z.blunt("http", reset) }},
		{name: "resets after the request", want: "reset", serve: func(z *zoo) string { return z.raw(reset) }},
		{name: "closes without an answer", want: "reset", serve: func(z *zoo) string { return z.raw(func(net.Conn) {}) }},
		{name: "resets in the middle of its body", want: "reset", serve: func(z *zoo) string {
			return z.raw(func(c net.Conn) {
				io.WriteString(c, okHead+"Content-Length: 100\r\n\r\nhalf")
				time.Sleep(50 * time.Millisecond)
				reset(c)
			})
		}},
		{name: "does not listen", want: "refused", serve: func(z *zoo) string {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				z.t.Fatal(err)
			}
			listener.Close()
			return "http://" + listener.Addr().String() + "/"
		}},
	}
}

func reset(c net.Conn) {
	c.(*net.TCPConn).SetLinger(0)
	c.Close()
}

func bodyBeasts() []beast {
	gz := okHead + "Content-Encoding: gzip\r\n\r\n"
	return []beast{
		{name: "endless body", want: "body_too_large", serve: handle(func(w http.ResponseWriter, _ *http.Request) { forever(w, strings.Repeat("x", 4096), 0) })},
		{name: "gzip bomb", want: "body_too_large", serve: say(gz + string(zipped(4<<20)))},
		{name: "endless empty gzip", want: "body_too_large", serve: func(z *zoo) string {
			return z.raw(func(c net.Conn) { io.WriteString(c, gz); forever(c, strings.Repeat(string(zipped(0)), 100), 0) })
		}},
		{name: "broken gzip", want: "encoding", serve: say(gz + "this is not compressed")},
		{name: "gzip that breaks later", want: "encoding", serve: say(gz + string(zipped(1000)[:12]) + strings.Repeat("\xff", 100))},
		{name: "half a gzip", want: "incomplete", serve: say(gz + string(zipped(1000)[:20]))},
		{name: "empty gzip", want: "200", serve: say(gz)},
		{name: "brotli that nobody asked for", want: "encoding", serve: say(okHead + "Content-Encoding: br\r\n\r\n\x0b\x02\x80hello\x03")},
		{name: "gzip within gzip", want: "encoding", serve: say(okHead + "Content-Encoding: gzip, gzip\r\n\r\nx")},
		{name: "content-length too long", want: "incomplete", serve: say(okHead + "Content-Length: 100\r\n\r\nshort")},
		{name: "content-length too short", want: "200", serve: say(okHead + "Content-Length: 5\r\n\r\nlonger than that"), check: bodyIs("longe")},
		{name: "content-length below zero", want: "protocol", serve: say(okHead + "Content-Length: -5\r\n\r\nx")},
		{name: "two content-lengths", want: "protocol", serve: say(okHead + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nxxxxxx")},
		{name: "content-length of a terabyte", want: "body_too_large", serve: func(z *zoo) string {
			return z.raw(func(c net.Conn) {
				io.WriteString(c, okHead+"Content-Length: 1099511627776\r\n\r\n")
				forever(c, strings.Repeat("x", 4096), 0)
			})
		}},
		{name: "chunks without end", want: "incomplete", serve: say(okHead + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")},
		{name: "chunks of nonsense", want: "protocol", serve: say(okHead + "Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n")},
		{name: "chunks with endless extensions", want: "protocol", serve: func(z *zoo) string {
			return z.raw(func(c net.Conn) {
				io.WriteString(c, okHead+"Transfer-Encoding: chunked\r\n\r\n5;")
				forever(c, strings.Repeat("a", 1024), 0)
			})
		}},
		{name: "a film", want: "200", serve: handle(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "video/mp4")
			forever(w, strings.Repeat("x", 4096), 0)
		}), check: bodyIs("")},
		{name: "a wrong charset", want: "200", serve: say(okHead[:len(okHead)-2] + "; charset=klingon\r\n\r\n\xff\xfe\xfd"), check: bodyIs("\xff\xfe\xfd")},
		{name: "zero bytes", want: "200", serve: say(okHead + "\r\n\x00\x00\x00"), check: bodyIs("\x00\x00\x00")},
		{name: "two content-types", want: "200", serve: say(okHead + "Content-Type: image/png\r\n\r\nx"), check: bodyIs("x")},
		{name: "a broken content-type", want: "200", serve: say("HTTP/1.1 200 OK\r\nContent-Type: ;;;=\r\n\r\nx")},
		{name: "a deep document", want: "200", serve: handle(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat("<div>", 50_000)) })},
	}
}

func bodyIs(want string) func(*testing.T, *notebook) {
	return func(t *testing.T, n *notebook) {
		if got := string(n.fetches[0].Body); got != want {
			t.Errorf("the body of %s is %.40q", n.fetches[0].URL.URL, got)
		}
	}
}

func redirectBeasts() []beast {
	return []beast{
		{name: "redirects to itself", want: "redirect_loop", serve: redirectTo("/")},
		{name: "redirects in a circle", want: "redirect_loop", serve: handle(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, map[string]string{"/": "/a", "/a": "/b", "/b": "/a"}[r.URL.Path], http.StatusFound)
		})},
		{name: "redirects fifty times", want: "too_many_redirects", serve: handle(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
		}), check: func(t *testing.T, n *notebook) {
			if hops := n.fetches[0].Hops; len(hops) != 11 || hops[10].Location == "" {
				t.Errorf("%d hops are kept", len(hops))
			}
		}},
		{name: "redirects to a file", want: "bad_redirect", serve: redirectTo("file:///etc/passwd")},
		{name: "redirects to a script", want: "bad_redirect", serve: redirectTo("javascript:alert(1)")},
		{name: "redirects to gopher", want: "bad_redirect", serve: redirectTo("gopher://127.0.0.1/")},
		{name: "redirects with a password", want: "bad_redirect", serve: redirectTo("http://user:secret@127.0.0.1/")},
		{name: "redirects nowhere", want: "bad_redirect", serve: say("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n")},
		{name: "redirects to a huge address", want: "bad_redirect", serve: redirectTo("/" + strings.Repeat("a", 8000))},
		{name: "redirects to bytes", want: "redirect_loop", serve: redirectTo("/\xff\xfe")},
		{name: "redirects with an endless body", want: "404", serve: func(z *zoo) string {
			return z.raw(func(c net.Conn) {
				io.WriteString(c, "HTTP/1.1 302 Found\r\nLocation: /robots.txt\r\n\r\n")
				forever(c, strings.Repeat("x", 4096), 0)
			})
		}},
	}
}

func headerBeasts() []beast {
	return []beast{
		{name: "many headers", want: "header_too_large", serve: say(okHead + strings.Repeat("X-Header: value\r\n", 5000) + "\r\nx")},
		{name: "a huge header", want: "header_too_large", serve: say(okHead + "X-Header: " + strings.Repeat("v", 1<<20) + "\r\n\r\nx")},
		{name: "endless headers", want: "header_too_large", serve: func(z *zoo) string {
			return z.raw(func(c net.Conn) { io.WriteString(c, okHead); forever(c, strings.Repeat("X-A: b\r\n", 100), 0) })
		}},
		{name: "a flood of cookies", want: "200", reason: crawl.StopPages, serve: handle(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Cookie") != "" {
				requests.Add(1)
			}
			for i := range 100 {
				w.Header().Add("Set-Cookie", fmt.Sprintf("c%d=%s", i, strings.Repeat("v", 50)))
			}
			for i := range 30 {
				fmt.Fprintf(w, "page /%d\n", i)
			}
		}), check: func(t *testing.T, _ *notebook) {
			if n := requests.Load(); n > 0 {
				t.Errorf("%d requests brought a cookie back", n)
			}
		}},
		{name: "HTTP/0.9", want: "protocol", serve: say("<html>hello</html>")},
		{name: "an invalid status line", want: "protocol", serve: say("HTTP/1.1 abc OK\r\n\r\n")},
		{name: "a status of four digits", want: "protocol", serve: say("HTTP/1.1 2000 OK\r\n\r\n")},
		{name: "another protocol", want: "protocol", serve: say("220 mail.example ESMTP\r\n")},
		{name: "a header without a colon", want: "protocol", serve: say(okHead + "nonsense\r\n\r\nx")},
		{name: "status 999", want: "999", serve: say("HTTP/1.1 999 Denied\r\nContent-Length: 0\r\n\r\n")},
		{name: "endless 1xx", want: "header_too_large", serve: func(z *zoo) string {
			return z.raw(func(c net.Conn) { forever(c, "HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n", 0) })
		}},
		{name: "switches protocols", want: "protocol", serve: say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")},
		{name: "204", want: "204", serve: say("HTTP/1.1 204 No Content\r\n\r\nbody")},
		{name: "205", want: "205", serve: say("HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n")},
		{name: "304 that nobody asked for", want: "304", serve: say("HTTP/1.1 304 Not Modified\r\n\r\n"), check: func(t *testing.T, n *notebook) {
			if n.fetches[0].Unchanged {
				t.Error("a 304 that nobody asked for counts as unchanged")
			}
		}},
		{name: "429 for a year", want: "429", serve: say("HTTP/1.1 429 Slow Down\r\nRetry-After: 31536000\r\nContent-Length: 0\r\n\r\n")},
		{name: "503 for ever", want: "200", reason: crawl.StopDown, serve: handle(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			for i := range 30 {
				fmt.Fprintf(w, "page /%d\n", i)
			}
		})},
	}
}

func secureBeasts() []beast {
	now := time.Now()
	here := net.IPv4(127, 0, 0, 1)
	hello := func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }
	return []beast{
		{name: "good TLS", want: "200", serve: secure(hello, trusted(now.Add(-time.Hour), now.Add(time.Hour), here))},
		{name: "an expired certificate", want: "tls_expired", serve: secure(hello, trusted(now.Add(-2*time.Hour), now.Add(-time.Hour), here))},
		{name: "a certificate of the future", want: "tls_expired", serve: secure(hello, trusted(now.Add(time.Hour), now.Add(2*time.Hour), here))},
		{name: "a certificate for another host", want: "tls_name", serve: secure(hello, trusted(now.Add(-time.Hour), now.Add(time.Hour), net.IPv4(127, 0, 0, 9)))},
		{name: "a certificate signed by itself", want: "tls_authority", serve: secure(hello, func(*zoo, *httptest.Server) {})},
		{name: "old TLS", want: "tls_version", serve: secure(hello, func(_ *zoo, s *httptest.Server) {
			s.TLS.MinVersion, s.TLS.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
		})},
		{name: "garbage for TLS", want: "tls", serve: func(z *zoo) string {
			return z.blunt("https", func(c net.Conn) { io.WriteString(c, strings.Repeat("garbage ", 100)); io.Copy(io.Discard, c) })
		}},
		{name: "http where https was asked for", want: "tls", serve: func(z *zoo) string {
			return strings.Replace(z.web(hello), "http:", "https:", 1)
		}},
		{name: "HTTP/2", want: "200", serve: secure(hello, func(z *zoo, s *httptest.Server) {
			s.EnableHTTP2 = true
			trusted(now.Add(-time.Hour), now.Add(time.Hour), here)(z, s)
		}), check: func(t *testing.T, n *notebook) {
			if proto := n.fetches[0].Last().Proto; proto != "HTTP/2.0" {
				t.Errorf("HTTP/2 is spoken as %s", proto)
			}
		}},
		{name: "HTTP/2 that breaks off", want: "protocol", serve: secure(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, func(z *zoo, s *httptest.Server) {
			s.EnableHTTP2 = true
			trusted(now.Add(-time.Hour), now.Add(time.Hour), here)(z, s)
		})},
		{name: "HTTP/2 with many headers", want: "protocol", serve: secure(func(w http.ResponseWriter, _ *http.Request) {
			for i := range 2000 {
				w.Header().Set(fmt.Sprintf("X-Header-%d", i), "value")
			}
		}, func(z *zoo, s *httptest.Server) {
			s.EnableHTTP2 = true
			trusted(now.Add(-time.Hour), now.Add(time.Hour), here)(z, s)
		})},
		{name: "garbage for HTTP/2", want: "robots", serve: func(z *zoo) string {
			config := &tls.Config{NextProtos: []string{"h2"}, Certificates: []tls.Certificate{z.certificate(now.Add(-time.Hour), now.Add(time.Hour), here)}}
			return z.blunt("https", func(c net.Conn) {
				secured := tls.Server(c, config)
				io.WriteString(secured, strings.Repeat("garbage ", 100))
				io.Copy(io.Discard, secured)
			})
		}},
	}
}

func siteBeasts() []beast {
	robots := func(answer http.HandlerFunc) func(*zoo) string {
		return handleAll(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				answer(w, r)
			}
		})
	}
	sitemap := func(text string) func(*zoo) string {
		return handleAll(serveText(map[string]string{"/": "", "/sitemap.xml": text}))
	}
	return []beast{
		{name: "a calendar without end", want: "200", reason: crawl.StopPages, serve: handle(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "page %sx/\npage %sy/\n", r.URL.Path, r.URL.Path)
		})},
		{name: "query strings that grow", want: "200", reason: crawl.StopPages, serve: handle(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "page ?%s&a=1\npage ?b=%d\n", r.URL.RawQuery, time.Now().UnixNano())
		})},
		{name: "more links than are followed", want: "200", reason: crawl.StopPages, serve: handle(func(w http.ResponseWriter, r *http.Request) {
			for i := range 10_000 {
				fmt.Fprintf(w, "page %d\n", i)
			}
		})},
		{name: "a huge robots.txt", want: "200", serve: robots(func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, strings.Repeat("Disallow: /\n", 100_000))
		})},
		{name: "an endless robots.txt", want: "200", serve: robots(func(w http.ResponseWriter, _ *http.Request) { forever(w, strings.Repeat("x", 4096), 0) })},
		{name: "robots.txt drips", want: "timeout", serve: robots(func(w http.ResponseWriter, _ *http.Request) { forever(w, "x", 50*time.Millisecond) })},
		{name: "robots.txt redirects in a circle", want: "200", serve: robots(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/robots.txt", http.StatusFound) })},
		{name: "robots.txt is an error", want: "robots", serve: robots(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })},
		{name: "robots.txt is binary", want: "200", serve: robots(func(w http.ResponseWriter, _ *http.Request) { w.Write(bytes.Repeat([]byte{0, 255, 10}, 1000)) })},
		{name: "a sitemap that is a bomb", want: "200", serve: sitemap(string(zipped(4 << 20))), check: sitemaps(1, true, false)},
		{name: "a sitemap that is broken", want: "200", serve: sitemap("<urlset><url><loc>"), check: sitemaps(1, true, false)},
		{name: "a sitemap that is a page", want: "200", serve: sitemap("<html></html>"), check: sitemaps(1, true, false)},
		{name: "sitemaps that list each other", want: "200", serve: handleAll(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" && r.URL.Path != "/robots.txt" {
				fmt.Fprintf(w, "<sitemapindex><sitemap><loc>http://%s/a.xml</loc></sitemap><sitemap><loc>http://%s/sitemap.xml</loc></sitemap></sitemapindex>", r.Host, r.Host)
			}
		}), check: sitemaps(2, false, false)},
		{name: "sitemaps that list ever more", want: "200", serve: handleAll(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" && r.URL.Path != "/robots.txt" {
				fmt.Fprintf(w, "<sitemapindex><sitemap><loc>http://%s%sx</loc></sitemap></sitemapindex>", r.Host, r.URL.Path)
			}
		}), check: sitemaps(4, false, false)},
		{name: "a sitemap of 60,000 pages", want: "200", reason: crawl.StopPages, serve: handleAll(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/sitemap.xml" {
				return
			}
			zip := gzip.NewWriter(w)
			for i := range 60_000 {
				fmt.Fprintf(zip, "http://%s/%d\n", r.Host, i)
			}
			zip.Close()
		}), check: sitemaps(1, false, true)},
	}
}

// sitemaps says how many sitemaps are told of, and what the first is like.
func sitemaps(n int, broken, tooLarge bool) func(*testing.T, *notebook) {
	return func(t *testing.T, notes *notebook) {
		if len(notes.sitemaps) != n || (notes.sitemaps[0].File.Err != nil) != broken || notes.sitemaps[0].File.TooLarge != tooLarge {
			t.Errorf("%s: %d sitemaps, the first %+v", notes.fetches[0].URL.URL, len(notes.sitemaps), notes.sitemaps[0].File.Err)
		}
	}
}

// certificate makes a certificate that the crawler trusts.
func (z *zoo) certificate(from, to time.Time, addresses ...net.IP) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		z.t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "zoo"}, NotBefore: from, NotAfter: to,
		IPAddresses: addresses, BasicConstraintsValid: true, IsCA: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		z.t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		z.t.Fatal(err)
	}
	z.roots.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
