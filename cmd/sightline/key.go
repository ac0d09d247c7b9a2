package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sightline/internal/account"
	"sightline/internal/config"
	"sightline/internal/store"
)

// KeyCmd is sightline key.
type KeyCmd struct {
	Create KeyCreateCmd `cmd:"" help:"Make an API key and print it."`
	List   KeyListCmd   `cmd:"" help:"List the API keys."`
	Revoke KeyRevokeCmd `cmd:"" help:"Make an API key useless."`
}

// KeyCreateCmd is sightline key create.
type KeyCreateCmd struct {
	config.Storage
	Name    string  `required:"" placeholder:"NAME" help:"What the key is for; shown in lists."`
	Scopes  *string `placeholder:"SCOPES" help:"What the key may do: some of seo:read, seo:write, analytics:read, analytics:write, account:write, separated by commas. All of them if left out."`
	Expires string  `placeholder:"WHEN" help:"When the key ends: after 12h, 90d, 2w or 1y, or at the start of a day such as 2027-01-31 (UTC). Never if left out."`
	Account string  `placeholder:"EMAIL" help:"Whose key it is; the oldest account's if left out."`
}

// Run makes a key and prints it.
func (c *KeyCreateCmd) Run(ctx context.Context, term *terminal) error {
	key, err := c.key(term.now())
	if err != nil {
		return usage(err)
	}
	return withCatalog(ctx, c.Storage, func(catalog store.Catalog) error {
		owner, err := findAccount(ctx, catalog, c.Account)
		if err != nil {
			return err
		}
		secret := account.NewSecret()
		key.AccountID, key.Hash = owner.ID, account.HashSecret(secret)
		if err := catalog.CreateKey(ctx, &key, nil); err != nil {
			return err
		}
		_, err = fmt.Fprintln(term.stdout, secret)
		return err
	})
}

// key is the key that the flags describe, still without a secret and an owner.
func (c *KeyCreateCmd) key(now time.Time) (account.Key, error) {
	scopes := account.AllScopes()
	if c.Scopes != nil {
		var err error
		if scopes, err = account.ParseScopes(*c.Scopes); err != nil {
			return account.Key{}, fmt.Errorf("--%w", err)
		}
	}
	key := account.Key{Name: strings.TrimSpace(c.Name), Scopes: scopes, CreatedAt: now.UTC().Truncate(time.Second)}
	if c.Expires != "" {
		var err error
		if key.ExpiresAt, err = parseExpiry(c.Expires, key.CreatedAt); err != nil {
			return account.Key{}, err
		}
	}
	if err := key.Check(); err != nil {
		return account.Key{}, fmt.Errorf("--%w", err)
	}
	return key, nil
}

// mostUnits is the longest time that --expires takes, in any unit.
const mostUnits = 10_000

// parseExpiry reads a time from now, such as 90d, or a date.
func parseExpiry(text string, now time.Time) (time.Time, error) {
	at, err := time.ParseInLocation(time.DateOnly, text, time.UTC)
	if err != nil && len(text) > 1 {
		var n uint64
		n, err = strconv.ParseUint(text[:len(text)-1], 10, 64)
		switch unit := text[len(text)-1]; {
		case err != nil || n > mostUnits:
		case unit == 'h':
			at = now.Add(time.Duration(n) * time.Hour)
		case unit == 'd':
			at = now.AddDate(0, 0, int(n))
		case unit == 'w':
			at = now.AddDate(0, 0, 7*int(n))
		case unit == 'y':
			at = now.AddDate(int(n), 0, 0)
		}
	}
	switch {
	case at.IsZero() || at.Year() > 9999:
		return time.Time{}, fmt.Errorf("--expires must be a time such as 12h, 90d, 2w or 1y, or a date such as 2027-01-31, not %q", text)
	case !at.After(now):
		return time.Time{}, fmt.Errorf("--expires must lie in the future")
	}
	return at, nil
}

// findAccount finds the account with an e-mail address, or the oldest one when it is empty.
func findAccount(ctx context.Context, accounts account.Accounts, email string) (account.Account, error) {
	all, err := accounts.Accounts(ctx)
	if err != nil {
		return account.Account{}, err
	}
	for _, a := range all {
		if email == "" || a.Email == strings.ToLower(strings.TrimSpace(email)) {
			return a, nil
		}
	}
	return account.Account{}, fmt.Errorf("there is no account %s: sightline account list shows them", printable(email))
}

// KeyListCmd is sightline key list.
type KeyListCmd struct {
	config.Storage
}

// Run lists the keys of all accounts.
func (c *KeyListCmd) Run(ctx context.Context, term *terminal) error {
	return withCatalog(ctx, c.Storage, func(catalog store.Catalog) error {
		accounts, err := catalog.Accounts(ctx)
		if err != nil {
			return err
		}
		emails := map[int64]string{}
		for _, a := range accounts {
			emails[a.ID] = a.Email
		}
		keys, err := catalog.AllKeys(ctx)
		if err != nil {
			return err
		}
		rows := [][]string{{"ID", "NAME", "ACCOUNT", "SCOPES", "CREATED", "LAST USED", "EXPIRES", "STATE"}}
		for _, k := range keys {
			rows = append(rows, []string{strconv.FormatInt(k.ID, 10), printable(k.Name), printable(emails[k.AccountID]), scopesText(k.Scopes),
				timeText(k.CreatedAt), timeText(k.LastUsedAt), timeText(k.ExpiresAt), keyState(k, term.now())})
		}
		return writeTable(term.stdout, rows)
	})
}

func scopesText(scopes account.Scopes) string {
	if len(scopes) == len(account.AllScopes()) {
		return "all"
	}
	return scopes.String()
}

// keyState says whether a key can be used and, if not, why.
func keyState(k account.Key, now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked " + timeText(k.RevokedAt)
	case !k.Valid(now):
		return "expired"
	default:
		return "valid"
	}
}

// KeyRevokeCmd is sightline key revoke.
type KeyRevokeCmd struct {
	config.Storage
	ID int64 `arg:"" help:"The key's number in sightline key list."`
}

// Run revokes a key.
func (c *KeyRevokeCmd) Run(ctx context.Context, term *terminal) error {
	return withCatalog(ctx, c.Storage, func(catalog store.Catalog) error {
		keys, err := catalog.AllKeys(ctx)
		if err != nil {
			return err
		}
		for _, k := range keys {
			switch {
			case k.ID != c.ID:
				continue
			case !k.RevokedAt.IsZero():
				return fmt.Errorf("key %d was revoked before, at %s", k.ID, timeText(k.RevokedAt))
			}
			if err := catalog.RevokeKey(ctx, k.AccountID, k.ID, term.now().UTC().Truncate(time.Second)); err != nil {
				return err
			}
			_, err := fmt.Fprintf(term.stdout, "Key %d (%s) is revoked.\n", k.ID, printable(k.Name))
			return err
		}
		return fmt.Errorf("there is no key %d: sightline key list shows them", c.ID)
	})
}
