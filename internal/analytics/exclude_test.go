package analytics

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestParseIPs(t *testing.T) {
	tests := []struct{ in, want string }{
		{"192.0.2.1", "192.0.2.1/32"},
		{"192.0.2.1/24", "192.0.2.0/24"},
		{"10.0.0.*", "10.0.0.0/24"},
		{"10.0.*.*", "10.0.0.0/16"},
		{"10.0.*", "10.0.0.0/16"},
		{"10.*", "10.0.0.0/8"},
		{"2001:db8::1", "2001:db8::1/128"},
		{"2001:DB8::/32", "2001:db8::/32"},
		{"::ffff:192.0.2.1", "192.0.2.1/32"},
		{"::ffff:192.0.2.0/120", "192.0.2.0/24"},
		{"192.0.2.1,192.0.2.2;192.0.2.3 192.0.2.4\r\n192.0.2.5\n\n", "192.0.2.1/32 192.0.2.2/32 192.0.2.3/32 192.0.2.4/32 192.0.2.5/32"},
		{"", ""},
	}
	for _, test := range tests {
		prefixes, err := ParseIPs(test.in)
		var got []string
		for _, prefix := range prefixes {
			got = append(got, prefix.String())
		}
		if err != nil || strings.Join(got, " ") != test.want {
			t.Errorf("ParseIPs(%q) = %v, %v; want %s", test.in, got, err, test.want)
		}
	}
	for _, in := range []string{"300.1.1.1", "192.0.2", "192.0.2.1/33", "010.0.0.1", "*", "*.*.*.*", "10.*.0.*", "10.0.0.0.*", "1.2.3.4.*", "10.0.0.**", "fe80::1%eth0", "fe80::1%eth0/64", "::1/129", "example.com", "2001:db8::*"} {
		if got, err := ParseIPs("192.0.2.1 " + in); err == nil || !strings.Contains(err.Error(), in) {
			t.Errorf("ParseIPs(%q) = %v, %v; want an error that names it", in, got, err)
		}
	}
}

func TestParseParams(t *testing.T) {
	got, err := ParseParams(" utm_*, fbclid;gclid\r\n& ")
	if want := []string{"utm_*", "fbclid", "gclid", "&"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func FuzzParseIPs(f *testing.F) {
	for _, seed := range []string{"192.0.2.1", "10.0.0.*, 2001:db8::/32", "::ffff:1.2.3.4/97", "10.*", "1.2.3.4/0;::/0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ParseParams(text)
		prefixes, err := ParseIPs(text)
		if err != nil {
			return
		}
		if len(prefixes) > MaxIPs {
			t.Errorf("%q gave %d prefixes", text, len(prefixes))
		}
		for _, prefix := range prefixes {
			if !prefix.IsValid() || prefix != prefix.Masked() || prefix.Addr().Zone() != "" {
				t.Errorf("%q gave %v", text, prefix)
			}
			if prefix.IsSingleIP() && !prefix.Contains(netip.MustParseAddr(prefix.Addr().String())) {
				t.Errorf("%v does not contain its own address", prefix)
			}
		}
	})
}
