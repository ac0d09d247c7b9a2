package analytics

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"runtime"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"sightline/internal/fault"
)

// MaxPassword is the longest password of a website, in characters.
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

// HashPassword turns a password into the form in which it is kept. When too many are hashed at once it waits its turn.
func HashPassword(ctx context.Context, password string) (string, error) {
	select {
	case hashing <- struct{}{}:
		defer func() { <-hashing }()
	case <-ctx.Done():
		return "", fmt.Errorf("hash a password: %w", ctx.Err())
	}
	var salt [16]byte
	rand.Read(salt[:])
	sum := argon2.IDKey([]byte(password), salt[:], argonPasses, argonMemory, argonLanes, 32)
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonPasses, argonLanes, encode(salt[:]), encode(sum)), nil
}
