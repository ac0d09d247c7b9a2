package main

import (
	"bytes"
	"testing"
	"time"

	"sightline/internal/store/archive"
)

// follow counts a thousand rows, one every 20 ms, out of a job of total rows.
func follow(bar bool, total int) string {
	var out bytes.Buffer
	clock := now
	p := newProgress(&terminal{stderr: &out, now: func() time.Time { return clock }}, "copied", total)
	if bar {
		p.bar, p.every, p.next = true, 5*time.Second, now.Add(5*time.Second)
	}
	for range 1000 {
		clock = clock.Add(20 * time.Millisecond)
		p.count(archive.Tables[0])
	}
	p.count(archive.Counters)
	p.end()
	return out.String()
}

func TestProgress(t *testing.T) {
	if got, want := follow(false, 2000), "500 of 2000 rows copied (25 %)\n1000 of 2000 rows copied (50 %)\n"; got != want {
		t.Errorf("lines: %q, want %q", got, want)
	}
	const done = "\r[##############################] 100 %  1000 of 1000 rows copied"
	want := "\r[#########.....................]  30 %  300 of 1000 rows copied" +
		"\r[##################............]  60 %  600 of 1000 rows copied" +
		"\r[###########################...]  90 %  900 of 1000 rows copied" + done + "\n"
	if got := follow(true, 1000); got != want {
		t.Errorf("bar: %q, want %q", got, want)
	}
	if got := follow(false, 10); got != "500 of 500 rows copied (100 %)\n1000 of 1000 rows copied (100 %)\n" {
		t.Errorf("more rows than counted before: %q", got)
	}
}
