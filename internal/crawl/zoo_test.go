package crawl_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sightline/internal/crawl"
	"sightline/internal/crawl/address"
	"sightline/internal/crawl/guard"
)

// A beast is a server that behaves badly, and what a crawl of it should say.
type beast struct {
	name   string
	serve  func(*zoo) string           // starts it and returns the address to crawl
	want   string                      // of the start page: the kind of failure, or the status
	reason crawl.Reason                // why the crawl ended
	check  func(*testing.T, *notebook) // what else should hold; may be nil
}

// A zoo keeps the beasts.
type zoo struct {
	t     *testing.T
	roots *x509.CertPool
}

// Every beast ends within its bounds and with a name for what it did, all at the same time, and a well-behaved site beside
// them is crawled as if they were not there.
func TestZoo(t *testing.T) {
	z := &zoo{t: t, roots: x509.NewCertPool()}
	beasts := allBeasts()
	starts := make([]address.Address, len(beasts))
	for i, b := range beasts {
		starts[i] = at(b.serve(z))
	}
	client := guard.New(guard.Options{Rules: guard.Rules{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, Roots: z.roots,
		Limits: guard.Limits{Header: 16 << 10, Body: 256 << 10, Time: 4 * time.Second}})
	t.Cleanup(client.Close)
	crawler := crawl.New(client, crawl.Manners{PerSecond: -1, ChecksPerSecond: -1, MaxPause: 50 * time.Millisecond})
	stop := make(chan struct{})
	peak := watchMemory(stop)

	var all sync.WaitGroup
	for i, b := range beasts {
		all.Go(func() {
			notes := &notebook{}
			outcome, err := crawler.Crawl(t.Context(), crawl.Job{Start: starts[i], Handler: notes, Limits: crawl.Limits{Pages: 20, Time: 2 * time.Minute}})
			b.judge(t, notes, outcome, err)
		})
	}
	healthy := z.web(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "page /%d\npage /%d\n", len(r.URL.Path), len(r.URL.Path)+1)
		if n := strings.Count(r.URL.Path, "x"); n < 99 {
			fmt.Fprintf(w, "page %sx\n", r.URL.Path)
		}
	})
	all.Go(func() {
		outcome, err := crawler.Crawl(t.Context(), crawl.Job{Start: at(healthy), Handler: &notebook{}, Limits: crawl.Limits{Pages: 80}})
		if err != nil || outcome.Fetched != 80 || outcome.StoppedBy != crawl.StopPages {
			t.Errorf("the site beside them: %+v, %v", outcome, err)
		}
	})
	all.Wait()
	close(stop)
	if most := <-peak; most > 256<<20 {
		t.Errorf("the crawls took %d MiB", most>>20)
	}
	if len(beasts) < 40 {
		t.Errorf("there are only %d beasts", len(beasts))
	}
}

func (b *beast) judge(t *testing.T, notes *notebook, outcome crawl.Outcome, err error) {
	if err != nil || len(notes.fetches) == 0 {
		t.Errorf("%s: outcome %+v, %v", b.name, outcome, err)
		return
	}
	first := notes.fetches[0]
	got, cause := fmt.Sprint(first.Status), error(nil)
	if first.Err != nil {
		got, cause = string(first.Err.Kind), first.Err.Err
	}
	if got != b.want || outcome.StoppedBy != b.reason {
		t.Errorf("%s: %s (%v), stopped by %q; want %s, stopped by %q", b.name, got, cause, outcome.StoppedBy, b.want, b.reason)
	}
	if b.check != nil {
		b.check(t, notes)
	}
}

// watchMemory notes the most memory that objects take until it is stopped.
func watchMemory(stop chan struct{}) chan uint64 {
	peak := make(chan uint64, 1)
	go func() {
		var most uint64
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64())
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return peak
}

// web is a server of HTTP whose robots.txt and sitemap are missing, unless the handler has them.
func (z *zoo) web(h http.HandlerFunc) string {
	server := httptest.NewUnstartedServer(polite(h))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	z.t.Cleanup(server.Close)
	return server.URL + "/"
}

func polite(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" || r.URL.Path == "/sitemap.xml" {
			http.NotFound(w, r)
			return
		}
		h(w, r)
	}
}

// own is a server that has its own robots.txt and sitemap.
func (z *zoo) own(h http.HandlerFunc) string {
	server := httptest.NewServer(h)
	z.t.Cleanup(server.Close)
	return server.URL + "/"
}

// raw is a server that writes what it likes. What it does not write to the end, it breaks off.
func (z *zoo) raw(answer func(net.Conn)) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		z.t.Fatal(err)
	}
	z.accept(listener, func(conn net.Conn) {
		path := readRequest(conn)
		switch path {
		case "":
		case "/robots.txt", "/sitemap.xml":
			io.WriteString(conn, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		default:
			answer(conn)
		}
	})
	return "http://" + listener.Addr().String() + "/"
}

// blunt is a server that does not even wait for a request.
func (z *zoo) blunt(scheme string, answer func(net.Conn)) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		z.t.Fatal(err)
	}
	z.accept(listener, answer)
	return scheme + "://" + listener.Addr().String() + "/"
}

func (z *zoo) accept(listener net.Listener, answer func(net.Conn)) {
	var open sync.Map
	z.t.Cleanup(func() {
		listener.Close()
		open.Range(func(conn, _ any) bool { conn.(net.Conn).Close(); return true })
	})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open.Store(conn, true)
			go func() {
				answer(conn)
				conn.Close()
				open.Delete(conn)
			}()
		}
	}()
}

// readRequest reads one request and returns its path.
func readRequest(conn net.Conn) string {
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return ""
	}
	return request.URL.Path
}

// forever writes a text again and again until the other side has had enough.
func forever(w io.Writer, text string, pause time.Duration) {
	for {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		time.Sleep(pause)
	}
}

const okHead = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

func say(text string) func(*zoo) string {
	return func(z *zoo) string { return z.raw(func(conn net.Conn) { io.WriteString(conn, text) }) }
}

func redirectTo(location string) func(*zoo) string {
	return say("HTTP/1.1 301 Moved\r\nLocation: " + location + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

func handle(h http.HandlerFunc) func(*zoo) string { return func(z *zoo) string { return z.web(h) } }

func handleAll(h http.HandlerFunc) func(*zoo) string { return func(z *zoo) string { return z.own(h) } }

func zipped(size int) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	io.CopyN(w, endless{}, int64(size))
	w.Close()
	return out.Bytes()
}

// endless is a reader of x without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// secure is a server of HTTPS; set may change its certificate and versions.
func secure(h http.HandlerFunc, set func(*zoo, *httptest.Server)) func(*zoo) string {
	return func(z *zoo) string {
		server := httptest.NewUnstartedServer(polite(h))
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.TLS = &tls.Config{}
		set(z, server)
		server.StartTLS()
		z.t.Cleanup(server.Close)
		return server.URL + "/"
	}
}

// trusted gives a server a certificate that the crawler trusts.
func trusted(from, to time.Time, addresses ...net.IP) func(*zoo, *httptest.Server) {
	return func(z *zoo, s *httptest.Server) {
		s.TLS.Certificates = []tls.Certificate{z.certificate(from, to, addresses...)}
	}
}

var requests atomic.Int32 // of the beast that floods with cookies: those that bring one back
