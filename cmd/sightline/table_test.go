package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestColumnsFit(t *testing.T) {
	rows := [][]string{
		{"ID", "URL", "PRIVACY", "CREATED"},
		{"1", "https://a-rather-long-name.example.com/with/a/path", "public", "2026-11-14 09:30 UTC"},
		{"1000", "https://東京.example.com/", "private", "never"},
	}
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, `
ID    URL                                                 PRIVACY  CREATED
1     https://a-rather-long-name.example.com/with/a/path  public   2026-11-14 09:30 UTC
1000  https://東京.example.com/                           private  never`},
		{60, `
ID    URL                          PRIVACY  CREATED
1     https://a-rather-long-name…  public   2026-11-14 09:3…
1000  https://東京.example.com/    private  never`},
		{30, `
ID    URL      PRIVA…  CREATED
1     https:…  public  2026-1…
1000  https:…  priva…  never`},
		{12, `
ID    URL  …
1     https…
1000  https…`},
	} {
		var out bytes.Buffer
		if err := writeColumns(&out, rows, c.width); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != strings.TrimPrefix(c.want, "\n")+"\n" {
			t.Errorf("in %d columns:\n%s", c.width, got)
		}
		for line := range strings.Lines(out.String()) {
			if n := textWidth(strings.TrimSuffix(line, "\n")); c.width > 0 && n > c.width {
				t.Errorf("%q is %d wide, more than %d", line, n, c.width)
			}
		}
	}
}
