package origin_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"testing"

	"sightline/internal/web/origin"
)

// The addresses of a caller and of two proxies on this machine. Only the proxies are trusted.
const caller, first, second = "127.0.0.9", "127.0.0.2", "127.0.0.3"

// from is a transport whose connections come from an address.
func from(t *testing.T, address string) *http.Transport {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// proxy starts a proxy at an address before a server. set writes what it says of the client.
func proxy(t *testing.T, address, server string, set func(*httputil.ProxyRequest)) string {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(&httputil.ReverseProxy{Transport: from(t, address), Rewrite: func(r *httputil.ProxyRequest) {
		for _, name := range headers { // as nginx and others do, what callers wrote passes
			r.Out.Header[http.CanonicalHeaderKey(name)] = r.In.Header.Values(name)
		}
		r.SetURL(target)
		set(r)
	}})
	t.Cleanup(front.Close)
	return front.URL
}

func peerOf(r *httputil.ProxyRequest) string {
	return netip.MustParseAddrPort(r.In.RemoteAddr).Addr().Unmap().String()
}

// ways are how proxies name the client, each with the header that it sets.
var ways = []struct {
	name, header string
	set          func(*httputil.ProxyRequest)
	chains       bool // a second proxy keeps what the first said
}{
	{"Go's own", "X-Forwarded-For", (*httputil.ProxyRequest).SetXForwarded, true},
	{"appended", "X-Forwarded-For", func(r *httputil.ProxyRequest) {
		r.Out.Header.Set("X-Forwarded-For", r.In.Header.Get("X-Forwarded-For")+", "+peerOf(r))
	}, true},
	{"another line", "X-Forwarded-For", func(r *httputil.ProxyRequest) { r.Out.Header.Add("X-Forwarded-For", peerOf(r)) }, true},
	{"replaced", "X-Forwarded-For", func(r *httputil.ProxyRequest) { r.Out.Header.Set("X-Forwarded-For", peerOf(r)) }, false},
	{"real ip", "X-Real-IP", func(r *httputil.ProxyRequest) { r.Out.Header.Set("X-Real-IP", peerOf(r)) }, false},
	{"forwarded", "Forwarded", func(r *httputil.ProxyRequest) {
		r.Out.Header.Add("Forwarded", `for="`+r.In.RemoteAddr+`";proto=http;by=_proxy`)
	}, true},
}

func TestThroughProxies(t *testing.T) {
	for _, way := range ways {
		proxies := origin.Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix(first + "/32"), netip.MustParsePrefix(second + "/32")}, Header: way.header}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, proxies.Client(r).String()) }))
		defer server.Close()
		doors := map[string]string{"directly": server.URL, "through one": proxy(t, first, server.URL, way.set)}
		if way.chains {
			doors["through two"] = proxy(t, second, doors["through one"], way.set)
		}
		for door, address := range doors {
			for _, lies := range []http.Header{{}, {"X-Forwarded-For": {forged}, "X-Real-Ip": {forged}, "Forwarded": {"for=" + forged}},
				{"X-Forwarded-For": {forged, first}, "X-Real-Ip": {second}, "Forwarded": {`for=` + forged + `;x="`}}} {
				if got := ask(t, address, lies); got != caller {
					t.Errorf("%s %s with %v: %s", way.name, door, lies, got)
				}
			}
		}
	}
}

// ask calls an address from that of the caller.
func ask(t *testing.T, address string, header http.Header) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header.Clone()
	response, err := from(t, caller).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
