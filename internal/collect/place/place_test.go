package place

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sightline/internal/analytics"
)

func find(db *Database, address string) analytics.Place {
	return db.Find(netip.MustParseAddr(address))
}

func TestBuiltInCountries(t *testing.T) {
	db, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"8.8.8.8": "US", "::ffff:8.8.8.8": "US", "2001:4860:4860::8888": "US", "194.25.0.60": "DE", "200.160.2.3": "BR", "133.11.0.1": "JP",
		"127.0.0.1": "", "10.0.0.1": "", "192.0.2.1": "", "::1": "", "fe80::1%eth0": "",
	}
	for range 2 { // found, then remembered
		for address, country := range tests {
			if got, want := find(db, address), (analytics.Place{Country: country}); got != want {
				t.Errorf("%s is in %v, want %v", address, got, want)
			}
		}
	}
	if got := db.Find(netip.Addr{}); got != (analytics.Place{}) {
		t.Errorf("no address is in %v", got)
	}
	if changed, err := db.Reload(); changed || err != nil {
		t.Errorf("reload without a file: %v, %v", changed, err)
	}
}

func TestRicherFiles(t *testing.T) {
	austin := analytics.Place{Country: "US", Region: "TX", City: "Austin"}
	for name, record := range map[string]any{
		"nested": pairs{{"city", pairs{{"names", pairs{{"en", "Austin"}}}}}, {"country", pairs{{"iso_code", "US"}}}, {"subdivisions", list{pairs{{"iso_code", "TX"}}}}},
		"flat":   pairs{{"city", "Austin"}, {"country_code", "US"}, {"state1", "TX"}},
		"plain":  pairs{{"city", "Austin"}, {"country", "us"}, {"region", "TX"}},
	} {
		db, err := Open(writeFile(t, filepath.Join(t.TempDir(), "geo.mmdb"), mmdb(record)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := find(db, "192.0.2.1"); got != austin {
			t.Errorf("%s: got %v, want %v", name, got, austin)
		}
	}
}

func TestReload(t *testing.T) {
	file := filepath.Join(t.TempDir(), "geo.mmdb")
	if _, err := Open(file); err == nil {
		t.Error("a file that is not there was opened")
	}
	db, err := Open(writeFile(t, file, mmdb(pairs{{"country_code", "DE"}})))
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := db.Reload(); changed || err != nil {
		t.Errorf("nothing changed: %v, %v", changed, err)
	}
	writeFile(t, file, "not an mmdb file")
	if changed, err := db.Reload(); changed || err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a broken file: %v, %v", changed, err)
	}
	if changed, err := db.Reload(); changed || err != nil {
		t.Errorf("a broken file is reported once: %v, %v", changed, err)
	}
	if got := find(db, "192.0.2.1"); got.Country != "DE" {
		t.Errorf("beside a broken file: %v", got)
	}
	writeFile(t, file, mmdb(pairs{{"as_number", "64496"}}))
	if _, err := db.Reload(); err == nil || !strings.Contains(err.Error(), "no countries") {
		t.Errorf("a file without countries: %v", err)
	}
	writeFile(t, file, mmdb(pairs{{"country_code", "FR"}}))
	if changed, err := db.Reload(); !changed || err != nil {
		t.Errorf("a new file: %v, %v", changed, err)
	}
	if got := find(db, "192.0.2.1"); got.Country != "FR" {
		t.Errorf("after the new file: %v", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Reload(); err == nil || find(db, "192.0.2.1").Country != "FR" {
		t.Errorf("a file that is gone: %v", err)
	}
	if _, err := db.Reload(); err != nil {
		t.Errorf("a file that is gone is reported once: %v", err)
	}
}

var writes int64

// writeFile writes a file with a time of its own, however fast tests are.
func writeFile(t *testing.T, file, content string) string {
	t.Helper()
	writes++
	at := time.Unix(1_700_000_000+writes, 0)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, at, at); err != nil {
		t.Fatal(err)
	}
	return file
}

// Values of an mmdb file: a map in order, a list, a text or a number.
type (
	pairs []struct {
		key   string
		value any
	}
	list []any
)

// mmdb is a file in which every IPv4 address has the same record.
func mmdb(record any) string {
	pointer := string([]byte{0, 0, 1 + 16}) // one node, both its sides lead to the record, which follows 16 zeros
	return pointer + pointer + strings.Repeat("\x00", 16) + encode(record) + "\xab\xcd\xefMaxMind.com" + encode(pairs{
		{"binary_format_major_version", 2}, {"binary_format_minor_version", 0}, {"database_type", "test"},
		{"ip_version", 4}, {"node_count", 1}, {"record_size", 24},
	})
}

func encode(value any) string {
	var out strings.Builder
	switch v := value.(type) {
	case string:
		out.WriteByte(byte(2<<5 | len(v)))
		out.WriteString(v)
	case int:
		out.WriteString(string([]byte{5<<5 | 1, byte(v)}))
	case list:
		out.WriteString(string([]byte{byte(len(v)), 11 - 7}))
		for _, item := range v {
			out.WriteString(encode(item))
		}
	case pairs:
		out.WriteByte(byte(7<<5 | len(v)))
		for _, pair := range v {
			out.WriteString(encode(pair.key) + encode(pair.value))
		}
	}
	return out.String()
}

func BenchmarkFind(b *testing.B) {
	db, err := Open("")
	if err != nil {
		b.Fatal(err)
	}
	address := netip.MustParseAddr("88.198.1.1")
	for b.Loop() {
		db.Find(address)
	}
}
