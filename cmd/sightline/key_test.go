package main

import (
	"testing"
	"time"

	"sightline/internal/account"
)

func TestParseExpiry(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"12h", "2026-11-14 21:30 UTC"},
		{"90d", "2027-02-12 09:30 UTC"},
		{"2w", "2026-11-28 09:30 UTC"},
		{"1y", "2027-11-14 09:30 UTC"},
		{"2027-01-31", "2027-01-31 00:00 UTC"},
		{"2026-11-15", "2026-11-15 00:00 UTC"},
		{"2026-11-14", ""}, // has begun
		{"2025-01-01", ""},
		{"2027-02-30", ""},
		{"0d", ""},
		{"-1d", ""},
		{"+1d", ""},
		{"1.5d", ""},
		{"90", ""},
		{"90m", ""},
		{"d", ""},
		{"9", ""},
		{"99999y", ""},
		{"9000y", ""},
		{"18446744073709551616h", ""},
		{"tomorrow", ""},
		{"5é", ""},
	} {
		at, err := parseExpiry(c.text, now)
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%s is taken as %s", c.text, timeText(at))
		case c.want != "" && (err != nil || timeText(at) != c.want):
			t.Errorf("%s is %s (%v), want %s", c.text, timeText(at), err, c.want)
		}
	}
}

func TestKeyState(t *testing.T) {
	for _, c := range []struct {
		key  account.Key
		want string
	}{
		{account.Key{}, "valid"},
		{account.Key{ExpiresAt: now.Add(time.Hour)}, "valid"},
		{account.Key{ExpiresAt: now}, "expired"},
		{account.Key{ExpiresAt: now, RevokedAt: now.Add(-time.Hour)}, "revoked 2026-11-14 08:30 UTC"},
	} {
		if got := keyState(c.key, now); got != c.want {
			t.Errorf("%+v is %s, want %s", c.key, got, c.want)
		}
	}
}
