package postgres

import (
	"fmt"
	"testing"
)

func TestRarest(t *testing.T) {
	var sites, shops []string
	for i := range 400 {
		sites = append(sites, fmt.Sprintf("https://site%d.example/", i*2_503))
		shops = append(shops, fmt.Sprintf("https://www.%c%c%c-shop.com/", 'a'+i%26, 'a'+i%23, 'a'+i%19))
	}
	for _, test := range []struct {
		term   string
		sample []string
		want   string
	}{
		{"site423871.ex", nil, "site423871.ex"},
		{"site423871.ex", sites, "e423871."},
		{"https://site7", sites, "https://site7"},
		{"www.blue.com", shops, "w.blue."},
		{"https://www.münchen.com", shops, "w.münchen."},
		{"shop.com", shops, "shop.com"},
		{"-shop", shops, "-shop"},
		{"日本語のページ", shops, "日本語のページ"},
		{"a_b%c", shops, "a_b%"},
	} {
		if got := rarest(test.term, test.sample); got != test.want {
			t.Errorf("of %q: %q, want %q", test.term, got, test.want)
		}
	}
}
