package access_test

import (
	"errors"
	"strings"
	"testing"

	"sightline/internal/access"
	"sightline/internal/fault"
)

func TestPrivacy(t *testing.T) {
	for _, test := range []struct {
		privacy access.Privacy
		hash    string
		field   string // the bad one; empty: none
	}{
		{access.Public, "", ""}, {access.Private, "", ""}, {access.Password, "hash", ""}, {access.Private, "hash", ""},
		{access.Password, "", "password"}, {3, "hash", "privacy"}, {-1, "", "privacy"},
	} {
		var bad fault.Invalid
		errors.As(test.privacy.Check(test.hash), &bad)
		if got := strings.Join(bad.Fields(), " "); got != test.field {
			t.Errorf("%d with hash %q: bad is %q, want %q", test.privacy, test.hash, got, test.field)
		}
	}
}

func TestPasswords(t *testing.T) {
	for text, good := range map[string]bool{"": false, "a": true, strings.Repeat("é", 128): true, strings.Repeat("é", 129): false} {
		if (access.CheckPassword(text) == nil) != good {
			t.Errorf("%q: %v", text, access.CheckPassword(text))
		}
	}
	first, err := access.HashPassword(t.Context(), "secret", "")
	if err != nil || !strings.HasPrefix(first, "$argon2id$v=19$m=19456,t=2,p=1$") || strings.Contains(first, "secret") {
		t.Fatalf("the hash is %s, %v", first, err)
	}
	for password, same := range map[string]bool{"secret": true, "Secret": false} {
		again, err := access.HashPassword(t.Context(), password, first)
		if err != nil || (again == first) != same {
			t.Errorf("%q is hashed to %s, %v", password, again, err)
		}
	}
}
