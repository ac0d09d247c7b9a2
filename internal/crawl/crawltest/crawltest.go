// Package crawltest sets traps for crawlers that should stay on the public web: addresses that lie, names that change their
// minds, and a server that counts who comes.
package crawltest

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"sightline/internal/crawl/address"
)

// Spellings are ways to write the machine itself and other private places, for a port.
var Spellings = []string{
	"http://127.0.0.1:%d/", "http://localhost:%d/", "http://LOCALHOST:%d/", "http://localhost.:%d/", "http://127.1:%d/", "http://127.0.1:%d/",
	"http://0x7f000001:%d/", "http://0x7f.0.0.1:%d/", "http://0177.0.0.1:%d/", "http://017700000001:%d/", "http://2130706433:%d/",
	"http://127.0.0.1.:%d/", "http://127.0.0.3:%d/", "http://127.255.255.254:%d/", "http://0.0.0.0:%d/", "http://0:%d/", "http://%%31%%32%%37.0.0.1:%d/",
	"http://１２７.０.０.１:%d/", "http://①②⑦.⓪.⓪.①:%d/", "http://127。0。0。1:%d/", "http://ⓛocalhost:%d/",
	"http://[::1]:%d/", "http://[::]:%d/", "http://[0:0:0:0:0:0:0:1]:%d/", "http://[::ffff:127.0.0.1]:%d/", "http://[::ffff:7f00:1]:%d/",
	"http://[::127.0.0.1]:%d/", "http://[64:ff9b::7f00:1]:%d/", "http://[64:ff9b:1::7f00:1]:%d/", "http://[2002:7f00:1::]:%d/", "http://[2001:0:7f00:1::1]:%d/",
	"http://[fe80::1]:%d/", "http://[fc00::1]:%d/", "http://10.0.0.1:%d/", "http://169.254.169.254:%d/", "http://192.168.0.1:%d/", "http://172.16.0.1:%d/",
	"http://100.64.0.1:%d/", "http:\\\\127.0.0.1:%d\\", "http:127.0.0.1:%d/", "http://loop4.test:%d/", "http://loop6.test:%d/", "http://both.test:%d/",
	"http://public@127.0.0.1:%d/", "http://127.0.0.1:%d#@public.test/", "http://127.0.0.1:%d?public.test/",
}

// A Trap listens on every address of the machine. Connections to the one address that stands for the public web are
// welcome; it counts all others.
type Trap struct {
	Port    int          // on which it listens
	Caught  atomic.Int32 // connections that should not be
	mu      sync.Mutex
	handler http.HandlerFunc
}

// Public is the one address of the machine that stands for the public web.
var Public = netip.MustParseAddr("127.0.0.2")

// NewTrap sets a trap until the test ends.
func NewTrap(t testing.TB) *Trap {
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	tr := &Trap{Port: listener.Addr().(*net.TCPAddr).Port}
	server := &http.Server{
		ConnState: func(conn net.Conn, state http.ConnState) {
			local := conn.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
			if state == http.StateNew && local != Public {
				tr.Caught.Add(1)
			}
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close") // every request is looked up anew
			tr.mu.Lock()
			handler := tr.handler
			tr.mu.Unlock()
			handler(w, r)
		}),
	}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return tr
}

// Serve has the welcome connections answered.
func (tr *Trap) Serve(h http.HandlerFunc) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.handler = h
}

// Names is a DNS server: for public.test and all below it, for names of the machine itself, and for rebinding names, which have
// the public address at first and another from then on.
type Names struct {
	conn    net.PacketConn
	mu      sync.Mutex
	targets map[string]netip.Addr
	asked   map[string]int
}

// NewNames starts a DNS server until the test ends.
func NewNames(t testing.TB) *Names {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &Names{conn: conn, targets: map[string]netip.Addr{}, asked: map[string]int{}}
	go n.serve()
	t.Cleanup(func() { conn.Close() })
	return n
}

// Resolver asks the server.
func (n *Names) Resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", n.conn.LocalAddr().String())
	}}
}

func (n *Names) serve() {
	buffer := make([]byte, 1500)
	for {
		size, from, err := n.conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		var query dnsmessage.Message
		if query.Unpack(buffer[:size]) != nil || len(query.Questions) != 1 {
			continue
		}
		query.Response, query.Additionals = true, nil
		question := query.Questions[0]
		for _, ip := range n.lookup(strings.TrimSuffix(strings.ToLower(question.Name.String()), "."), question.Type) {
			head := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET}
			if ip.Is4() && question.Type == dnsmessage.TypeA {
				query.Answers = append(query.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: ip.As4()}})
			} else if ip.Is6() && question.Type == dnsmessage.TypeAAAA {
				query.Answers = append(query.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}})
			}
		}
		if answer, err := query.Pack(); err == nil {
			n.conn.WriteTo(answer, from)
		}
	}
}

func (n *Names) lookup(name string, kind dnsmessage.Type) []netip.Addr {
	loop4, loop6 := netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()
	switch name {
	case "public.test":
		return []netip.Addr{Public}
	case "loop4.test":
		return []netip.Addr{loop4}
	case "loop6.test":
		return []netip.Addr{loop6}
	case "both.test":
		return []netip.Addr{netip.MustParseAddr("203.0.113.1"), loop4, loop6}
	}
	if strings.HasSuffix(name, ".public.test") {
		return []netip.Addr{Public}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	target, known := n.targets[name]
	if kind == dnsmessage.TypeA {
		n.asked[name]++
	}
	switch {
	case !known:
		return nil
	case n.asked[name] <= 1:
		return []netip.Addr{Public}
	}
	return []netip.Addr{target}
}

// Rebind arms a rebinding name.
func (n *Names) Rebind(name string, target netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked[name], n.targets[name] = 0, target
}

// Lookups is how often a rebinding name was looked up.
func (n *Names) Lookups(name string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[name]
}

// Meant is the address that a spelling means.
func Meant(spelling string) netip.Addr {
	to, err := address.Parse(spelling)
	if err != nil {
		return netip.MustParseAddr("127.0.0.1")
	}
	host, _, _ := net.SplitHostPort(to.Host)
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip
	}
	return netip.IPv6Loopback()
}
