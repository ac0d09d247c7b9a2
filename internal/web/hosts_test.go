package web_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"sightline/internal/web"
)

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func TestTwoHostsOnOnePort(t *testing.T) {
	listen := "127.0.0.1:" + freePort(t)
	s := serveAt(t, "", t.TempDir(), &web.Place{URL: mustURL("https://seo.example.com"), Listen: listen}, &web.Place{URL: mustURL("https://stats.example.com"), Listen: listen})
	tests := []struct {
		host, path string
		want       int
	}{
		{"seo.example.com", "/api/v1/projects", 200},
		{"SEO.example.com:443", "/api/v1/projects", 200},
		{"seo.example.com.", "/api/v1/projects", 200},
		{"seo.example.com", "/api/v1/websites", 404},
		{"stats.example.com", "/api/v1/websites", 200},
		{"stats.example.com", "/api/v1/projects", 404},
		{"other.example.com", "/api/v1/projects", 404},
		{"other.example.com", "/readyz", 404},
		{"other.example.com", "/healthz", 200},
		{"127.0.0.1", "/api/v1/websites", 404},
	}
	for _, test := range tests {
		if got := s.do("GET", "http://"+listen+test.path, "", "Host: "+test.host, "Authorization: Bearer "+s.key); got.status != test.want {
			t.Errorf("%s%s: %d, want %d", test.host, test.path, got.status, test.want)
		}
	}
	list := s.do("GET", "http://"+listen+"/api/v1/websites", "", "Host: stats.example.com", "Authorization: Bearer "+s.key)
	if list.field("meta.path") != "https://stats.example.com/api/v1/websites" {
		t.Errorf("path: %s", list.body)
	}
}

func TestBothAreasAtOneURL(t *testing.T) {
	base := "http://localhost:" + freePort(t)
	s := serveAt(t, "", t.TempDir(), &web.Place{URL: mustURL(base)}, &web.Place{URL: mustURL(base)})
	for _, path := range []string{"/api/v1/projects", "/api/v1/websites", "/healthz", "/readyz"} {
		s.want(s.form("GET", base+path, ""), 200)
	}
	s.want(s.do("GET", base+"/api/v1/projects", "", "Host: anything.example", "Authorization: Bearer "+s.key), 200)
}

// The same URL with two listen addresses is both areas at both.
func TestBothAreasAtTwoAddresses(t *testing.T) {
	first, second := "127.0.0.1:"+freePort(t), "127.0.0.1:"+freePort(t)
	s := serveAt(t, "", t.TempDir(), &web.Place{URL: mustURL("https://both.example"), Listen: first}, &web.Place{URL: mustURL("https://both.example"), Listen: second})
	for _, address := range []string{first, second} {
		for _, path := range []string{"/api/v1/projects", "/api/v1/websites"} {
			s.want(s.do("GET", "http://"+address+path, "", "Authorization: Bearer "+s.key), 200)
		}
	}
}

// Two areas that share a name and a listener are told apart by their ports.
func TestOneNameTwoPorts(t *testing.T) {
	listen := "127.0.0.1:" + freePort(t)
	s := serveAt(t, "", t.TempDir(), &web.Place{URL: mustURL("https://one.example"), Listen: listen}, &web.Place{URL: mustURL("https://one.example:8443"), Listen: listen})
	for host, path := range map[string]string{"one.example": "/api/v1/projects", "one.example:443": "/api/v1/projects", "one.example:8443": "/api/v1/websites"} {
		s.want(s.do("GET", "http://"+listen+path, "", "Host: "+host, "Authorization: Bearer "+s.key), 200)
	}
	_, err := web.Listen(&web.Place{URL: mustURL("http://same.example:8443"), Listen: "127.0.0.1:" + freePort(t)}, &web.Place{URL: mustURL("https://same.example:8443"), Listen: listen})
	if err == nil {
		t.Error("listened twice on one address")
	}
	shared := "127.0.0.1:" + freePort(t)
	_, err = web.Listen(&web.Place{URL: mustURL("http://same.example:8443"), Listen: shared}, &web.Place{URL: mustURL("https://same.example:8443"), Listen: shared})
	if err == nil || !strings.Contains(err.Error(), "cannot share a port") {
		t.Errorf("two URLs that nobody can tell apart: %v", err)
	}
}

// A stalled upload is cut off when the server stops, and that is no failure.
func TestStopWithStalledUpload(t *testing.T) {
	s := serve(t, "", t.TempDir())
	connection, err := net.Dial("tcp", strings.TrimPrefix(s.seo, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprintf(connection, "POST /api/v1/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 40\r\n\r\npro", s.key)
	s.want(s.form("GET", s.seo+"/api/v1/projects", ""), 200)
	s.stop() // the harness demands that Serve ends without an error
}

func TestListen(t *testing.T) {
	port := freePort(t)
	first := &web.Place{URL: mustURL("http://localhost:" + port)}
	doors, err := web.Listen(first)
	if err != nil {
		t.Fatal(err)
	}
	defer web.CloseDoors(doors)
	if _, err := web.Listen(&web.Place{URL: mustURL("http://127.0.0.1:" + port)}); err == nil || !strings.Contains(err.Error(), "127.0.0.1:"+port+" is already in use") {
		t.Errorf("listened twice: %v", err)
	}
	if _, err := web.Listen(&web.Place{URL: mustURL("http://example.com"), Listen: "192.0.2.1:" + freePort(t)}); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("listened on a foreign address: %v", err)
	}
	addresses := doorAddresses(t, "http://localhost:"+freePort(t))
	for _, address := range addresses {
		if host, _, err := net.SplitHostPort(address); err != nil || !net.ParseIP(host).IsLoopback() {
			t.Errorf("localhost listens on %s", address)
		}
	}
	if addresses := doorAddresses(t, "http://stats.example.com:"+freePort(t)); len(addresses) != 1 || !strings.HasPrefix(addresses[0], "[::]:") && !strings.HasPrefix(addresses[0], "0.0.0.0:") {
		t.Errorf("a public name listens on %v", addresses)
	}
}

func doorAddresses(t *testing.T, base string) []string {
	t.Helper()
	doors, err := web.Listen(&web.Place{URL: mustURL(base)})
	if err != nil {
		t.Fatal(err)
	}
	defer web.CloseDoors(doors)
	var addresses []string
	for _, door := range doors {
		for _, address := range door.Addresses() {
			addresses = append(addresses, fmt.Sprint(address))
		}
	}
	return addresses
}
