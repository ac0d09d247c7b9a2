package web_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/receipt"
	"sightline/internal/seo"
	"sightline/internal/web"
)

// brokenProjects fails lists and creates in its way.
type brokenProjects struct {
	web.Catalog
	fail func(context.Context) error
}

func (b brokenProjects) Projects(ctx context.Context, _ int64, _ listing.Request) (listing.Page[seo.Project], error) {
	return listing.Page[seo.Project]{}, b.fail(ctx)
}

func (b brokenProjects) CreateProject(ctx context.Context, _ *seo.Project, _ *receipt.Receipt) error {
	return b.fail(ctx)
}

// Whatever goes wrong inside, the caller gets the right status and nothing of the cause; the log gets all of it.
func TestFailures(t *testing.T) {
	const cause = "SELECT secret FROM /var/lib/catalog"
	tests := []struct {
		name string
		fail func(context.Context) error
		want int
	}{
		{"panic", func(context.Context) error { panic(cause) }, 500},
		{"unforeseen", func(context.Context) error { return errors.New(cause) }, 500},
		{"disk full", func(context.Context) error { return fmt.Errorf("%w: %s", fault.Full, cause) }, 507},
		{"unavailable", func(context.Context) error { return fmt.Errorf("%w: %s", fault.Unavailable, cause) }, 503},
		{"unsynced", func(context.Context) error { return fmt.Errorf("%w: %s", fault.Unsynced, cause) }, 503},
		{"too slow", func(ctx context.Context) error {
			deadline, bounded := ctx.Deadline()
			if !bounded || time.Until(deadline) > 11*time.Second {
				return errors.New("the work is not bounded")
			}
			return fmt.Errorf("%w: %s", context.DeadlineExceeded, cause)
		}, 503},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := serveWith(t, func(s *server) { s.web.Catalog = brokenProjects{s.catalog, test.fail} })
			got := s.want(s.form("POST", s.seo+"/api/v1/projects", "project=x"), test.want)
			if strings.Contains(got.body, "secret") || !strings.Contains(s.log.String(), "SELECT secret") || !strings.Contains(s.log.String(), "level=ERROR msg=request") {
				t.Errorf("answer %s, log %s", got.body, s.log)
			}
			s.want(s.form("GET", s.analytics+"/api/v1/websites", ""), 200)
		})
	}
}

// A request that is under way when the server stops is answered.
func TestStopFinishesRunningRequests(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	s := serveWith(t, func(s *server) {
		s.web.Catalog = brokenProjects{s.catalog, func(context.Context) error { close(entered); <-leave; return nil }}
	})
	answered := make(chan answer, 1)
	go func() { answered <- s.form("GET", s.seo+"/api/v1/projects", "") }()
	<-entered
	s.stop()
	time.Sleep(100 * time.Millisecond) // the doors are closing meanwhile
	close(leave)
	s.want(<-answered, 200)
}

// The limits of a listener, seen on raw connections.
func TestListenerLimits(t *testing.T) {
	s := serve(t, "", t.TempDir())
	tests := []struct{ name, request, want string }{
		{"large header", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Large: " + strings.Repeat("a", 64<<10) + "\r\n\r\n", "HTTP/1.1 431 "},
		{"slow header", "GET /healthz HTTP/1.1\r\nHost: x\r\n", ""},
		{"compressed body", "POST /api/v1/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + s.key + "\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 415 "},
		{"slow body", "POST /api/v1/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + s.key + "\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{", "HTTP/1.1 400 "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			connection, err := net.Dial("tcp", strings.TrimPrefix(s.seo, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer connection.Close()
			if err := connection.SetDeadline(time.Now().Add(25 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(connection, test.request); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(connection).ReadString('\n')
			if !strings.HasPrefix(line, test.want) || test.want == "" && err != io.EOF && line == "" {
				t.Errorf("got %q, %v; want %q", line, err, test.want)
			}
		})
	}
}

func TestDescription(t *testing.T) {
	s := serve(t, "", t.TempDir())
	page := s.want(s.do("GET", s.seo+"/docs", "", "Accept: text/html"), 200, "<!doctype html>", s.seo+"/api/v1/projects")
	if policy := page.header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") {
		t.Errorf("Content-Security-Policy: %s", policy)
	}
	document := s.want(s.do("GET", s.analytics+"/api/v1/openapi.json", ""), 200)
	if document.field("openapi") != "3.1.0" || document.header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("%v %s", document.header, document.body[:100])
	}
	s.want(s.do(http.MethodPost, s.seo+"/docs", ""), 405)
}
