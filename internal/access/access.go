// Package access says who may open a page that its owner can close: to everyone, to nobody else, or by a password.
package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"sightline/internal/fault"
)

// Privacy says who may open the pages of a website or of a report.
type Privacy int

// The privacies, with their numbers in the interface.
const (
	Public   Privacy = 0
	Private  Privacy = 1
	Password Privacy = 2 // whoever knows the password
)

// Check reports a privacy that does not exist, and one that lacks its password.
func (p Privacy) Check(passwordHash string) error {
	switch {
	case p < Public || p > Password:
		return fault.Field("privacy", "must be 0, 1 or 2")
	case p == Password && passwordHash == "":
		return fault.Field("password", "is required when privacy is 2")
	}
	return nil
}

// MaxPassword is the longest password, in characters.
const MaxPassword = 128

// The cost of argon2id, as OWASP recommends it: 19 MiB of memory, two passes, one lane.
const (
	argonMemory = 19 * 1024 // KiB
	argonPasses = 2
	argonLanes  = 1
)

// hashing bounds how many passwords are hashed at once, and with it the memory that takes.
var hashing = make(chan struct{}, runtime.NumCPU())

// CheckPassword says what is wrong with a password.
func CheckPassword(password string) error {
	if n := utf8.RuneCountInString(password); n < 1 || n > MaxPassword {
		return fault.Field("password", "must be 1 to 128 characters")
	}
	return nil
}

// HashPassword turns a password into the form in which it is kept; into known, when that is a hash of it already. When too
// many are hashed at once it waits its turn.
func HashPassword(ctx context.Context, password, known string) (string, error) {
	select {
	case hashing <- struct{}{}:
		defer func() { <-hashing }()
	case <-ctx.Done():
		return "", fmt.Errorf("hash a password: %w", ctx.Err())
	}
	if parts := strings.Split(known, "$"); len(parts) == 6 {
		salt, err := base64.RawStdEncoding.DecodeString(parts[4])
		if err == nil && subtle.ConstantTimeCompare([]byte(hash(password, salt)), []byte(known)) == 1 {
			return known, nil
		}
	}
	salt := make([]byte, 16)
	rand.Read(salt)
	return hash(password, salt), nil
}

// hash is the argon2id of a password in the usual notation.
func hash(password string, salt []byte) string {
	sum := argon2.IDKey([]byte(password), salt, argonPasses, argonMemory, argonLanes, 32)
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonPasses, argonLanes, encode(salt), encode(sum))
}
