package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sightline/internal/store/archive"
	"sightline/internal/store/postgres/pgtest"
)

// How many backups are made while clients write, and how many websites a bulk write has.
const (
	backups  = 3
	bulkSize = 4
)

// R7: a backup made while clients write holds all that was acknowledged before it began, nothing by halves, and can be
// restored on either engine.
func TestBackupUnderLoad(t *testing.T) {
	for engine, flags := range map[string][]string{
		"sqlite":   {"--data", t.TempDir()},
		"postgres": {"--database", pgtest.URL(t)},
	} {
		t.Run(engine, func(t *testing.T) {
			server := start(t, flags)
			load := startLoad(t, server.analytics)
			dir := t.TempDir()
			known := make([]map[int64]string, backups)
			for i := range backups {
				time.Sleep(300 * time.Millisecond)
				known[i] = load.sofar()
				args := append([]string{"backup", backupName(dir, i)}, flags...)
				if output, err := exec.Command("sightline", args...).CombinedOutput(); err != nil {
					t.Fatalf("backup: %v\n%s", err, output)
				}
			}
			load.end()
			server.kill()
			for i := range backups {
				target := []string{"--data", t.TempDir()}
				if (engine == "sqlite") == (i%2 == 0) {
					target = []string{"--database", pgtest.URL(t)}
				}
				checkBackup(t, backupName(dir, i), target, known[i], load.sofar())
			}
		})
	}
}

func backupName(dir string, i int) string {
	return filepath.Join(dir, fmt.Sprintf("backup-%d.gz", i))
}

// A writeLoad is clients that write all the time.
type writeLoad struct {
	mu           sync.Mutex
	acknowledged map[int64]string // id → url
	stop         chan struct{}
	group        sync.WaitGroup
}

// startLoad lets clients create websites, one at a time and several in one bulk write in turns.
func startLoad(t *testing.T, base string) *writeLoad {
	load := &writeLoad{acknowledged: map[int64]string{}, stop: make(chan struct{})}
	for writer := range 4 {
		load.group.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-load.stop:
					return
				default:
				}
				ids, err := createWebsites(base, writer, i)
				if err != nil {
					t.Errorf("create: %v", err)
					return
				}
				load.mu.Lock()
				maps.Copy(load.acknowledged, ids)
				load.mu.Unlock()
			}
		})
	}
	return load
}

// sofar is what was acknowledged until now.
func (load *writeLoad) sofar() map[int64]string {
	load.mu.Lock()
	defer load.mu.Unlock()
	return maps.Clone(load.acknowledged)
}

func (load *writeLoad) end() {
	close(load.stop)
	load.group.Wait()
}

// createWebsites makes one website or, every second time, several that belong together.
func createWebsites(base string, writer, i int) (map[int64]string, error) {
	method, path, kind, body := "POST", "/api/v1/websites", "application/x-www-form-urlencoded", fmt.Sprintf("url=https://w%d-n%d.one.example", writer, i)
	if i%2 == 1 {
		var urls []string
		for part := range bulkSize {
			urls = append(urls, fmt.Sprintf(`{"url":"https://p%d.w%d-n%d.bulk.example"}`, part, writer, i))
		}
		method, path, kind, body = "PUT", "/api/v1/bulk/websites", "application/json", "["+strings.Join(urls, ",")+"]"
	}
	request, err := http.NewRequest(method, base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+programKey)
	request.Header.Set("Content-Type", kind)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer struct{ Data json.RawMessage }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode >= 300 {
		return nil, fmt.Errorf("%s: %v", response.Status, err)
	}
	if answer.Data[0] == '{' {
		answer.Data = []byte("[" + string(answer.Data) + "]")
	}
	var websites []struct {
		ID  int64
		URL string
	}
	err = json.Unmarshal(answer.Data, &websites)
	ids := map[int64]string{}
	for _, w := range websites {
		ids[w.ID] = w.URL
	}
	return ids, err
}

// checkBackup restores a backup and demands that it holds what was known before it began, nothing that was never
// acknowledged, and no bulk write by halves.
func checkBackup(t *testing.T, file string, target []string, before, after map[int64]string) {
	t.Helper()
	opened, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if info, err := opened.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	_, counts, err := archive.Verify(t.Context(), opened)
	if err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command("sightline", append([]string{"restore", file}, target...)...).CombinedOutput(); err != nil {
		t.Fatalf("restore: %v\n%s", err, output)
	}
	catalog := openTarget(t, target)
	stored, groups := map[int64]string{}, map[string]int{}
	for row, err := range catalog.Dump(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if row.Table.Name != "websites" {
			continue
		}
		id, url := row.Values[0].(int64), row.Values[2].(string)
		stored[id] = url
		if _, group, bulk := strings.Cut(url, "."); bulk && strings.HasSuffix(url, ".bulk.example") {
			groups[group]++
		}
		if after[id] != url {
			t.Errorf("website %d is %q, but it was acknowledged as %q", id, url, after[id])
		}
	}
	if len(stored) != counts["websites"] || counts.Check(must(catalog.Counts(t.Context()))(t)) != nil {
		t.Errorf("%d websites are restored, the backup says %v", len(stored), counts)
	}
	for id, url := range before {
		if stored[id] != url {
			t.Errorf("website %d, %s, was acknowledged before the backup and is not in it", id, url)
		}
	}
	for group, n := range groups {
		if n != bulkSize {
			t.Errorf("%d of %d websites of one bulk write are in the backup: %s", n, bulkSize, group)
		}
	}
	t.Logf("%d acknowledged before, %d in the backup, %d acknowledged in the end", len(before), len(stored), len(after))
}

// TestCopyScripts runs the scripts that move an installation into a database of its own.
func TestCopyScripts(t *testing.T) {
	runScripts(t, "../../testdata/script/copy", "DATABASE="+pgtest.URL(t))
}

// S4: no key and no password is in a backup, not even one that an idempotent answer once carried.
func TestNoSecretsInBackup(t *testing.T) {
	flags := []string{"--data", t.TempDir()}
	base := start(t, flags).analytics
	secrets := []string{programKey, "the-password-of-the-stats-page"}
	for path, fields := range map[string]string{
		"/api/v1/keys":     "name=second",
		"/api/v1/websites": "url=https://example.com&privacy=2&password=" + secrets[1],
	} {
		request := must(http.NewRequest("POST", base+path, strings.NewReader(fields)))(t)
		request.Header.Set("Authorization", "Bearer "+programKey)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Idempotency-Key", "once")
		response := must(http.DefaultClient.Do(request))(t)
		defer response.Body.Close()
		var answer struct{ Data struct{ Key string } }
		if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode != http.StatusCreated {
			t.Fatalf("%s: %s %v", path, response.Status, err)
		}
		if answer.Data.Key != "" {
			secrets = append(secrets, answer.Data.Key)
		}
	}
	output := must(exec.Command("sightline", append([]string{"backup", "-"}, flags...)...).Output())(t)
	text := must(io.ReadAll(must(gzip.NewReader(bytes.NewReader(output)))(t)))(t)
	if len(secrets) != 3 || !bytes.Contains(text, []byte(`"receipts":2`)) {
		t.Fatalf("%d secrets, backup:\n%s", len(secrets), text)
	}
	for i, secret := range secrets {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("secret %d is in the backup", i)
		}
	}
}
