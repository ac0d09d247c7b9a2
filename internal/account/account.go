// Package account says who calls and what they may do: accounts, their API keys and scopes.
package account

import (
	"context"
	"net/mail"
	"slices"
	"strings"
	"time"

	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/receipt"
)

// An Account owns websites, projects and reports. Accounts never see each other's.
type Account struct {
	ID        int64
	Email     string // lower case; names the account on the command line
	Name      string
	Timezone  string
	CreatedAt time.Time
}

// New is an account with the defaults.
func New(email string, now time.Time) Account {
	return Account{Email: strings.ToLower(strings.TrimSpace(email)), Timezone: "UTC", CreatedAt: now.UTC().Truncate(time.Second)}
}

// Check reports every field that breaks a rule.
func (a *Account) Check() error {
	bad := fault.Invalid{}
	parsed, err := mail.ParseAddress(a.Email)
	if err != nil || parsed.Address != a.Email || len(a.Email) > 254 {
		bad.Add("email", "must be an e-mail address such as you@example.com")
	}
	return bad.OrNil()
}

// Accounts is where accounts rest.
type Accounts interface {
	// CreateAccount stores a new account and sets its ID. An e-mail address that is taken is Invalid.
	CreateAccount(ctx context.Context, a *Account) error
	// CreateOwner stores the first account with its first key. It reports false, and stores
	// nothing, when the installation has an account already.
	CreateOwner(ctx context.Context, a *Account, k *Key) (bool, error)
	// Accounts lists all accounts, oldest first.
	Accounts(ctx context.Context) ([]Account, error)
	// Account reads one.
	Account(ctx context.Context, id int64) (Account, error)
}

// Keys is where API keys rest.
type Keys interface {
	// CreateKey stores a new key and sets its ID, with its receipt if there is one. A secret that exists already is Invalid.
	CreateKey(ctx context.Context, k *Key, r *receipt.Receipt) error
	// KeyByHash finds a key by the hash of its secret, revoked and expired ones too.
	KeyByHash(ctx context.Context, hash Hash) (Key, error)
	// Keys lists one page of an account's keys that are not revoked, oldest first.
	Keys(ctx context.Context, account int64, r listing.Request) (listing.Page[Key], error)
	// AllKeys lists the keys of all accounts, revoked ones too, oldest first: for the operator, never for a caller.
	AllKeys(ctx context.Context) ([]Key, error)
	// RevokeKey makes a key of an account useless from now on. A key revoked before is NotFound.
	RevokeKey(ctx context.Context, account, id int64, at time.Time) error
	// TouchKeys notes when keys were last used; a time earlier than the one known changes nothing.
	TouchKeys(ctx context.Context, used map[int64]time.Time) error
}

// A Scope is one thing that a key allows.
type Scope string

// The scopes. A key has all of them unless it was issued with fewer.
const (
	SEORead        Scope = "seo:read"
	SEOWrite       Scope = "seo:write"
	AnalyticsRead  Scope = "analytics:read"
	AnalyticsWrite Scope = "analytics:write"
	AccountWrite   Scope = "account:write"
)

// AllScopes lists every scope in the order in which they are shown.
func AllScopes() Scopes {
	return Scopes{SEORead, SEOWrite, AnalyticsRead, AnalyticsWrite, AccountWrite}
}

// Scopes is what a key allows.
type Scopes []Scope

// ParseScopes reads a list separated by commas or spaces.
func ParseScopes(text string) (Scopes, error) {
	return NewScopes(strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }))
}

// NewScopes is the scopes with these names.
func NewScopes(names []string) (Scopes, error) {
	var scopes Scopes
	for _, scope := range AllScopes() {
		if slices.Contains(names, string(scope)) {
			scopes = append(scopes, scope)
		}
	}
	for _, name := range names {
		if !slices.Contains(scopes, Scope(name)) {
			return nil, fault.Field("scopes", "must be some of "+AllScopes().String()+", not "+strings.ToValidUTF8(name, "?"))
		}
	}
	return scopes, nil
}

// StoredScopes reads what String wrote. A scope that only a newer version knows allows nothing here.
func StoredScopes(text string) Scopes {
	var scopes Scopes
	for name := range strings.SplitSeq(text, ",") {
		if name != "" {
			scopes = append(scopes, Scope(name))
		}
	}
	return scopes
}

// Allow says whether the scopes include one.
func (s Scopes) Allow(scope Scope) bool {
	return slices.Contains(s, scope)
}

// String is the form that ParseScopes and StoredScopes read.
func (s Scopes) String() string {
	names := make([]string, len(s))
	for i, scope := range s {
		names[i] = string(scope)
	}
	return strings.Join(names, ",")
}
