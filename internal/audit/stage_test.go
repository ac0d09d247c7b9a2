package audit_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"sightline/internal/crawl"
	"sightline/internal/crawl/address"
	"sightline/internal/crawl/guard"
)

// A stage serves hosts of any name on this machine, over http and https, and is a crawl.Fetcher that reaches them: each name
// has a loopback address of its own, and all of them the same two ports. Other names have no address.
type stage struct {
	client *guard.Client
	hosts  []string
	ports  map[string]string // by scheme

	mu  sync.Mutex
	log []visit
}

// A visit is a request as the server saw it.
type visit struct {
	url   string
	agent string
	at    time.Time
}

func newStage(t testing.TB, handler http.Handler, hosts ...string) *stage {
	s := &stage{hosts: hosts, ports: map[string]string{}}
	certificate, roots := selfSigned(t, len(hosts))
	for scheme, config := range map[string]*tls.Config{"http": nil, "https": {Certificates: []tls.Certificate{certificate}}} {
		listener, err := net.Listen("tcp", ":0")
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewUnstartedServer(s.serve(scheme, handler))
		server.Listener.Close()
		server.Listener = listener
		if server.TLS = config; config == nil {
			server.Start()
		} else {
			server.StartTLS()
		}
		t.Cleanup(server.Close)
		_, s.ports[scheme], _ = net.SplitHostPort(listener.Addr().String())
	}
	noNames := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no names here") }}
	s.client = guard.New(guard.Options{Rules: guard.Rules{Unguarded: true}, Roots: roots, Resolver: noNames, Agent: crawl.Agent})
	t.Cleanup(s.client.Close)
	return s
}

// serve hands requests on as if they had come for the name of the host.
func (s *stage) serve(scheme string, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		meant := s.back(scheme + "://" + r.Host + "/")
		r.Host = strings.TrimSuffix(strings.TrimPrefix(meant, scheme+"://"), "/")
		s.mu.Lock()
		s.log = append(s.log, visit{scheme + "://" + r.Host + r.URL.RequestURI(), r.UserAgent(), time.Now()})
		s.mu.Unlock()
		handler.ServeHTTP(&mover{w, s}, r)
	})
}

// visits are the requests that the server saw so far.
func (s *stage) visits() []visit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]visit(nil), s.log...)
}

// A mover lets redirects lead to where the hosts really are.
type mover struct {
	http.ResponseWriter
	s *stage
}

func (m *mover) WriteHeader(status int) {
	if to := m.Header().Get("Location"); to != "" {
		m.Header().Set("Location", m.s.there(to))
	}
	m.ResponseWriter.WriteHeader(status)
}

// there is where an address really is, back what it stands for.
func (s *stage) there(text string) string { return s.move(text, false) }

func (s *stage) back(text string) string { return s.move(text, true) }

func (s *stage) move(text string, back bool) string {
	for scheme, port := range s.ports {
		for i, host := range s.hosts {
			from, to := scheme+"://"+host+"/", fmt.Sprintf("%s://127.1.0.%d:%s/", scheme, i+1, port)
			if back {
				from, to = to, from
			}
			if rest, found := strings.CutPrefix(text, from); found {
				return to + rest
			}
		}
	}
	return text
}

func (s *stage) backAddress(a address.Address) address.Address {
	to, err := address.Parse(s.back(a.URL))
	if err != nil {
		panic(err)
	}
	return to
}

func (s *stage) backHop(h *guard.Hop) *guard.Hop {
	meant := *h
	meant.URL, meant.Location = s.backAddress(h.URL), s.back(h.Location)
	return &meant
}

// Fetch implements crawl.Fetcher.
func (s *stage) Fetch(ctx context.Context, r guard.Request) guard.Answer {
	to, err := address.Parse(s.there(r.URL.URL))
	if err != nil {
		panic(err)
	}
	r.URL = to
	if read := r.Read; read != nil {
		r.Read = func(last *guard.Hop, body io.Reader) { read(s.backHop(last), body) }
	}
	if r.Gate != nil {
		r.Gate = gate{r.Gate, s}
	}
	answer := s.client.Fetch(ctx, r)
	for i := range answer.Hops {
		answer.Hops[i] = *s.backHop(&answer.Hops[i])
	}
	return answer
}

type gate struct {
	guard.Gate
	s *stage
}

func (g gate) Enter(ctx context.Context, to address.Address, header http.Header) error {
	return g.Gate.Enter(ctx, g.s.backAddress(to), header)
}

func (g gate) Leave(hop *guard.Hop, failure *guard.Failure) {
	g.Gate.Leave(g.s.backHop(hop), failure)
}

// selfSigned is a certificate for the addresses of so many hosts, with itself as the authority.
func selfSigned(t testing.TB, hosts int) (tls.Certificate, *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	for i := range hosts {
		template.IPAddresses = append(template.IPAddresses, net.IPv4(127, 1, 0, byte(i+1)))
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}
