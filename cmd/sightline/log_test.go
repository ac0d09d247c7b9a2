package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestLogger(t *testing.T) {
	for _, c := range []struct{ format, level, want string }{
		{"auto", "info", "level=INFO msg=hello"},
		{"text", "info", "level=INFO msg=hello"},
		{"json", "info", `"level":"INFO","msg":"hello"`},
		{"json", "debug", `"msg":"hello"`},
		{"text", "warn", ""},
		{"text", "error", ""},
	} {
		var out bytes.Buffer
		newLogger(&out, c.format, c.level).Info("hello")
		if got := out.String(); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s at %s wrote %q, want %q", c.format, c.level, got, c.want)
		}
	}
}
