package collect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sightline/internal/analytics"
	"sightline/internal/collect"
	"sightline/internal/collect/spool"
	"sightline/internal/fault"
)

// clients is how many clients report at once.
const clients = 64

// agents is what visitors browse with, in a benchmark.
var agents = func() (all []string) {
	for version := range 40 {
		all = append(all, strings.Replace(chrome, "126", fmt.Sprint(90+version), 1))
	}
	return all
}()

// visitOf is the page view of one of many visitors.
func visitOf(i *installation, n int64) collect.Hit {
	return collect.Hit{Site: i.site.TrackingID, URL: fmt.Sprintf("https://example.com/page/%d?utm_source=news&session=1&a=2", n%500), Referrer: "https://www.google.com/",
		Screen: "1920x1080", Language: "en-US", Agent: agents[n%int64(len(agents))], Address: netip.AddrFrom4([4]byte{88, byte(n >> 16), byte(n >> 8), byte(n)})}
}

// BenchmarkCollect measures the collector with all steps on, beside the bare group commit of the same spool with records of the same
// size, by turns, so that both see the same machine. Their ratio is reported as x-bare.
func BenchmarkCollect(b *testing.B) {
	i := benchInstallation(b)
	bare, _, err := spool.Open(filepath.Join(b.TempDir(), "bare.db"), 0, spool.Limits{Bytes: 1 << 30, Waiting: 1024})
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	record := []byte(strings.Repeat("x", 230))
	hits := make([]collect.Hit, 100_000)
	for n := range hits {
		hits[n] = visitOf(i, int64(n))
	}
	var number, spent, spentBare atomic.Int64
	collectOne := func() error {
		n := int(number.Add(1)) % len(hits)
		_, err := i.Collect(context.Background(), hits[n:n+1])
		return err
	}
	appendOne := func() error {
		return bare.Append(context.Background(), record)
	}
	const turn = 5000
	rounds := 0
	for ; b.Loop(); rounds++ {
		spentBare.Add(int64(atOnce(b, turn, appendOne)))
		if err := bare.Discard(context.Background(), 1<<60); err != nil {
			b.Fatal(err)
		}
		spent.Add(int64(atOnce(b, turn, collectOne)))
	}
	total := float64(rounds * turn)
	b.ReportMetric(total/time.Duration(spent.Load()).Seconds(), "hits/s")
	b.ReportMetric(total/time.Duration(spentBare.Load()).Seconds(), "bare/s")
	b.ReportMetric(float64(spentBare.Load())/float64(spent.Load()), "x-bare")
}

// BenchmarkCollectHTTP measures the same over HTTP, as clients see it: reading a report and collecting it, beside storing its bytes as they came.
func BenchmarkCollectHTTP(b *testing.B) {
	i := benchInstallation(b)
	bare, _, err := spool.Open(filepath.Join(b.TempDir(), "bare.db"), 0, spool.Limits{Bytes: 1 << 30, Waiting: 1024})
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	answer := func(collectReport func(context.Context, []byte) error) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16<<10))
			if err == nil {
				err = collectReport(r.Context(), body)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
			w.WriteHeader(http.StatusAccepted)
		}))
		b.Cleanup(server.Close)
		return server.URL
	}
	bareURL := answer(bare.Append)
	fullURL := answer(func(ctx context.Context, body []byte) error {
		var hit collect.Hit
		if err := json.Unmarshal(body, &hit); err != nil {
			return err
		}
		_, err := i.Collect(ctx, []collect.Hit{hit})
		return err
	})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	var number atomic.Int64
	post := func(url string) func() error {
		return func() error {
			body, err := json.Marshal(visitOf(i, number.Add(1)))
			if err != nil {
				return err
			}
			response, err := client.Post(url, "text/plain", bytes.NewReader(body))
			if err != nil {
				return err
			}
			if response.StatusCode != http.StatusAccepted {
				return fmt.Errorf("status %d", response.StatusCode)
			}
			return response.Body.Close()
		}
	}
	const turn = 5000
	var spent, spentBare time.Duration
	rounds := 0
	for ; b.Loop(); rounds++ {
		spentBare += atOnce(b, turn, post(bareURL))
		if err := bare.Discard(context.Background(), 1<<60); err != nil {
			b.Fatal(err)
		}
		spent += atOnce(b, turn, post(fullURL))
	}
	total := float64(rounds * turn)
	b.ReportMetric(total/spent.Seconds(), "hits/s")
	b.ReportMetric(total/spentBare.Seconds(), "bare/s")
	b.ReportMetric(spentBare.Seconds()/spent.Seconds(), "x-bare")
}

// atOnce lets the clients do something many times in all and returns how long that took.
func atOnce(b *testing.B, many int, do func() error) time.Duration {
	began := time.Now()
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			for range many / clients {
				if err := do(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
	return time.Since(began)
}

// BenchmarkCollectAt2000 sends 2,000 hits a second and reports how long they take.
func BenchmarkCollectAt2000(b *testing.B) {
	i := benchInstallation(b)
	var mu sync.Mutex
	var took []time.Duration
	refused := 0
	var running sync.WaitGroup
	began := time.Now()
	for n := 0; b.Loop(); n++ {
		time.Sleep(time.Until(began.Add(time.Duration(n) * time.Second / 2000)))
		running.Go(func() {
			from := time.Now()
			_, err := i.Collect(context.Background(), []collect.Hit{visitOf(i, int64(n))})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				took = append(took, time.Since(from))
			case errors.Is(err, fault.Unavailable):
				refused++
			default:
				b.Error(err)
			}
		})
	}
	running.Wait()
	b.ReportMetric(float64(refused), "refused")
	slices.Sort(took)
	for _, percent := range []int{50, 99} {
		b.ReportMetric(float64(took[(len(took)-1)*percent/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", percent))
	}
}

// benchInstallation is an installation with rules of all kinds, on the real clock, whose store forgets.
func benchInstallation(b *testing.B) *installation {
	i := install(b)
	i.stop(b)
	i.change(b, func(w *analytics.Website) {
		w.ExcludeIPs, w.ExcludeParams = "203.0.113.0/24 2001:db8::/32", "session token*"
	})
	i.start(b, i.catalog, &forgetful{})
	runtime.GC()
	return i
}

// A forgetful store takes everything and keeps nothing.
type forgetful struct{ position atomic.Int64 }

func (f *forgetful) Append(_ context.Context, b analytics.Batch) error {
	f.position.Store(b.Position)
	return nil
}

func (f *forgetful) Position(context.Context) (int64, error) { return f.position.Load(), nil }

func (f *forgetful) OpenVisits(context.Context, time.Time) ([]analytics.Visit, error) {
	return nil, nil
}
