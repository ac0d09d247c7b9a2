package account

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"time"

	"sightline/internal/fault"
)

func TestSecrets(t *testing.T) {
	form := regexp.MustCompile(`^sl_[0-9A-Za-z]{38}$`)
	seen := map[string]bool{}
	for range 1000 {
		secret := NewSecret()
		if !form.MatchString(secret) || seen[secret] || Mistyped(secret) {
			t.Fatalf("secret %s", secret)
		}
		seen[secret] = true
		for i := range secret[3:] { // every single mistyped character is noticed
			wrong := []byte(secret)
			wrong[3+i] = base62[(int(wrong[3+i])+1)%62]
			if string(wrong) != secret && !Mistyped(string(wrong)) {
				t.Fatalf("%s passes for %s", wrong, secret)
			}
		}
	}
	for secret, ok := range map[string]bool{
		"my-own-key-for-scripts": true, "too short": false, "with a space in the middle": false, "umlaut-ü-in-the-middle": false,
		NewSecret(): true, NewSecret()[:40] + "!": false,
	} {
		if err := CheckChosenSecret(secret); (err == nil) != ok {
			t.Errorf("CheckChosenSecret(%q) = %v", secret, err)
		}
	}
}

func TestScopes(t *testing.T) {
	if scopes, err := ParseScopes("analytics:read, seo:write"); err != nil || scopes.String() != "seo:write,analytics:read" ||
		!scopes.Allow(SEOWrite) || scopes.Allow(SEORead) {
		t.Errorf("%v %v", scopes, err)
	}
	if scopes, err := ParseScopes(""); err != nil || len(scopes) != 0 {
		t.Errorf("no scopes became %v, %v", scopes, err)
	}
	if _, err := ParseScopes("seo:read,everything"); err == nil {
		t.Error("accepted an unknown scope")
	}
}

func TestEmails(t *testing.T) {
	for email, ok := range map[string]bool{"You@Example.com": true, "owner@localhost": true, "": false, "you": false, "You <you@example.com>": false, "a@b\n": true, "a b@example.com": false} {
		a := New(email, time.Now())
		if err := a.Check(); (err == nil) != ok {
			t.Errorf("%q: %v", email, err)
		}
	}
}

type keys = Keys

// keysThatFail is a store of keys whose writes fail until it is mended.
type keysThatFail struct {
	keys
	err     error
	touched map[int64]time.Time
}

func (k *keysThatFail) KeyByHash(context.Context, Hash) (Key, error) { return Key{ID: 7}, nil }

func (k *keysThatFail) TouchKeys(_ context.Context, used map[int64]time.Time) error {
	if k.err == nil {
		k.touched = used
	}
	return k.err
}

// What could not be written is written later.
func TestGateKeepsUsesThatCouldNotBeWritten(t *testing.T) {
	now := time.Date(2026, 11, 14, 9, 30, 0, 0, time.UTC)
	keys := &keysThatFail{err: fault.Unavailable}
	gate := NewGate(keys, func() time.Time { return now })
	if _, err := gate.Enter(t.Context(), NewSecret()); err != nil {
		t.Fatal(err)
	}
	if err := gate.Flush(t.Context()); !errors.Is(err, fault.Unavailable) {
		t.Errorf("flush: %v", err)
	}
	keys.err = nil
	if err := gate.Flush(t.Context()); err != nil || !keys.touched[7].Equal(now) {
		t.Errorf("flush: %v, %v", err, keys.touched)
	}
}
