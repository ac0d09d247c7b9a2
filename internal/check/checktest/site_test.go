package checktest_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sightline/internal/check/checktest"
)

// TestServe demands that a site says over HTTP what it says as values.
func TestServe(t *testing.T) {
	for _, site := range checktest.Sites() {
		for address, want := range site.Answers {
			if want.Wait > 0 {
				want.Wait = 0
				site.Answers[address] = want
			}
			r := httptest.NewRequest(http.MethodGet, address, nil)
			if strings.HasPrefix(address, "https:") {
				r.TLS = &tls.ConnectionState{}
			} else {
				r.TLS = nil
			}
			w := httptest.NewRecorder()
			if dropped := serve(site, w, r); dropped != want.Drop {
				t.Errorf("%s: dropped is %t", address, dropped)
			}
			if status := max(want.Status, 200); !want.Drop && (w.Code != status || w.Body.String() != want.Body || w.Header().Get("Location") != want.Location) {
				t.Errorf("%s: %d %v", address, w.Code, w.Header())
			}
		}
	}
}

// serve says whether the connection was cut instead of an answer.
func serve(h http.Handler, w http.ResponseWriter, r *http.Request) (dropped bool) {
	defer func() { dropped = recover() == http.ErrAbortHandler }()
	h.ServeHTTP(w, r)
	return
}

func TestHosts(t *testing.T) {
	if got := strings.Join(checktest.Sites()[0].Hosts(), " "); got != "partner.example shop.example" {
		t.Error(got)
	}
}
