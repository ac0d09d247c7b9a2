package account

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"hash/crc32"
	"strings"
	"time"
	"unicode/utf8"

	"sightline/internal/fault"
)

// A Key lets a program act for an account. Its secret is shown once and kept only as a hash.
type Key struct {
	ID         int64
	AccountID  int64
	Name       string
	Hash       Hash
	Scopes     Scopes
	CreatedAt  time.Time
	LastUsedAt time.Time // zero: never
	ExpiresAt  time.Time // zero: does not expire
	RevokedAt  time.Time // zero: not revoked
}

// Check reports every field that breaks a rule.
func (k *Key) Check() error {
	bad := fault.Invalid{}
	if n := utf8.RuneCountInString(k.Name); n < 1 || n > 100 || !utf8.ValidString(k.Name) || strings.ContainsFunc(k.Name, isControl) {
		bad.Add("name", "must be 1 to 100 characters without line breaks")
	}
	if len(k.Scopes) == 0 {
		bad.Add("scopes", "must be some of "+AllScopes().String())
	}
	if !k.ExpiresAt.IsZero() && !k.ExpiresAt.After(k.CreatedAt) {
		bad.Add("expires_at", "must lie in the future")
	}
	return bad.OrNil()
}

// Valid says whether the key may be used at a moment.
func (k *Key) Valid(at time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || at.Before(k.ExpiresAt))
}

// A Hash stands for a key's secret. Secrets are long and random, so a plain SHA-256 is enough.
type Hash [sha256.Size]byte

// HashSecret is the form in which a secret is kept.
func HashSecret(secret string) Hash {
	return sha256.Sum256([]byte(secret))
}

// The parts of a secret made by NewSecret: prefix, random characters, checksum.
const (
	secretPrefix = "sl_"
	secretRandom = 32
	secretSum    = 6
	secretLength = len(secretPrefix) + secretRandom + secretSum

	minChosenSecret = 20
	maxChosenSecret = 255
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// NewSecret makes the secret of a new key.
func NewSecret() string {
	random := randomText(secretRandom)
	return secretPrefix + random + checksum(random)
}

// CheckChosenSecret says what is wrong with a secret that a person chose instead.
func CheckChosenSecret(secret string) error {
	if len(secret) < minChosenSecret || len(secret) > maxChosenSecret || strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("a key must be 20 to 255 printable ASCII characters without spaces")
	}
	if Mistyped(secret) {
		return errors.New("the key looks like one made by Sightline but its checksum is wrong: is it complete?")
	}
	return nil
}

// Mistyped says that a secret cannot be right, without a look at the store: it is too short or long for
// any key, or has the form of a made one with a wrong checksum.
func Mistyped(secret string) bool {
	if len(secret) < minChosenSecret || len(secret) > maxChosenSecret {
		return true
	}
	if !LooksMade(secret) {
		return false
	}
	random := strings.TrimPrefix(secret, secretPrefix)
	return checksum(random[:secretRandom]) != random[secretRandom:]
}

// LooksMade says that text has the form of a secret made by NewSecret.
func LooksMade(text string) bool {
	return strings.HasPrefix(text, secretPrefix) && len(text) == secretLength
}

// checksum writes the CRC-32 of text as six base62 characters.
func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	var out [secretSum]byte
	for i := range out {
		out[secretSum-1-i] = base62[sum%62]
		sum /= 62
	}
	return string(out[:])
}

// randomText is n random base62 characters from the system's secure source.
func randomText(n int) string {
	out := make([]byte, 0, n)
	buffer := make([]byte, n)
	for {
		rand.Read(buffer)
		for _, b := range buffer {
			if b >= 4*62 { // the last few values would make some characters likelier
				continue
			}
			if out = append(out, base62[b%62]); len(out) == n {
				return string(out)
			}
		}
	}
}

func isControl(r rune) bool {
	return r < ' ' || r == 0x7f
}
