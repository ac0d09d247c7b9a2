package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"sightline/internal/account"
	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/receipt"
)

// CreateAccount implements account.Accounts.
func (db *DB) CreateAccount(ctx context.Context, a *account.Account) error {
	return db.change(ctx, func() error { return db.addAccount(a) })
}

// CreateOwner implements account.Accounts.
func (db *DB) CreateOwner(ctx context.Context, a *account.Account, k *account.Key) (created bool, err error) {
	err = db.change(ctx, func() error {
		if len(db.accounts) > 0 {
			return nil
		}
		if err := db.addAccount(a); err != nil {
			return err
		}
		k.AccountID = a.ID
		created = true
		return db.addKey(k)
	})
	return created && err == nil, err
}

// Accounts implements account.Accounts.
func (db *DB) Accounts(ctx context.Context) ([]account.Account, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return slices.Clone(db.accounts), nil
}

// Account implements account.Accounts.
func (db *DB) Account(ctx context.Context, id int64) (account.Account, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return account.Account{}, err
	}
	defer unlock()
	for _, a := range db.accounts {
		if a.ID == id {
			return a, nil
		}
	}
	return account.Account{}, fmt.Errorf("account %d: %w", id, fault.NotFound)
}

// CreateKey implements account.Keys.
func (db *DB) CreateKey(ctx context.Context, k *account.Key, r *receipt.Receipt) error {
	return db.changeOnce(ctx, r, func() error { return db.addKey(k) })
}

// KeyByHash implements account.Keys.
func (db *DB) KeyByHash(ctx context.Context, hash account.Hash) (account.Key, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return account.Key{}, err
	}
	defer unlock()
	for _, k := range db.keys {
		if k.Hash == hash {
			return keyCopy(k), nil
		}
	}
	return account.Key{}, fmt.Errorf("key by its secret: %w", fault.NotFound)
}

// Keys implements account.Keys.
func (db *DB) Keys(ctx context.Context, owner int64, r listing.Request) (listing.Page[account.Key], error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return listing.Page[account.Key]{}, err
	}
	defer unlock()
	var keys []account.Key
	for _, k := range db.keys {
		if k.AccountID == owner && k.RevokedAt.IsZero() {
			keys = append(keys, keyCopy(k))
		}
	}
	return onePage(keys, listing.Request{Page: r.Page, PerPage: r.PerPage}, func(a, b account.Key) int { return cmp.Compare(a.ID, b.ID) }), nil
}

// AllKeys implements account.Keys.
func (db *DB) AllKeys(ctx context.Context) ([]account.Key, error) {
	unlock, err := db.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var keys []account.Key
	for _, k := range db.keys {
		keys = append(keys, keyCopy(k))
	}
	return keys, nil
}

// RevokeKey implements account.Keys.
func (db *DB) RevokeKey(ctx context.Context, account, id int64, at time.Time) error {
	return db.change(ctx, func() error {
		for i := range db.keys {
			k := &db.keys[i]
			if k.AccountID == account && k.ID == id && k.RevokedAt.IsZero() {
				k.RevokedAt = second(at)
				return nil
			}
		}
		return fmt.Errorf("key %d: %w", id, fault.NotFound)
	})
}

// TouchKeys implements account.Keys.
func (db *DB) TouchKeys(ctx context.Context, used map[int64]time.Time) error {
	return db.change(ctx, func() error {
		for i := range db.keys {
			k := &db.keys[i]
			if at := second(used[k.ID]); at.After(k.LastUsedAt) {
				k.LastUsedAt = at
			}
		}
		return nil
	})
}

func (db *DB) addAccount(a *account.Account) error {
	for _, other := range db.accounts {
		if other.Email == a.Email {
			return fault.Field("email", "has an account already")
		}
	}
	a.ID = next(&db.last.account)
	stored := *a
	stored.CreatedAt = second(a.CreatedAt)
	db.accounts = append(db.accounts, stored)
	return nil
}

func (db *DB) addKey(k *account.Key) error {
	if err := db.needAccount(k.AccountID); err != nil {
		return err
	}
	for _, other := range db.keys {
		if other.Hash == k.Hash {
			return fault.Field("key", "exists already")
		}
	}
	k.ID = next(&db.last.key)
	stored := keyCopy(*k)
	stored.CreatedAt, stored.LastUsedAt = second(k.CreatedAt), second(k.LastUsedAt)
	stored.ExpiresAt, stored.RevokedAt = second(k.ExpiresAt), second(k.RevokedAt)
	db.keys = append(db.keys, stored)
	return nil
}

// needAccount fails when there is no such account.
func (db *DB) needAccount(id int64) error {
	for _, a := range db.accounts {
		if a.ID == id {
			return nil
		}
	}
	return fmt.Errorf("account %d: %w", id, fault.NotFound)
}

// keyCopy is a key that shares no memory with k.
func keyCopy(k account.Key) account.Key {
	k.Scopes = slices.Clone(k.Scopes)
	return k
}
