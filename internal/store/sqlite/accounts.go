package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"sightline/internal/account"
	"sightline/internal/fault"
	"sightline/internal/listing"
	"sightline/internal/receipt"
)

// CreateAccount implements account.Accounts.
func (db *DB) CreateAccount(ctx context.Context, a *account.Account) error {
	return db.change(ctx, func(tx *sql.Tx) error { return insertAccount(tx, a) })
}

// CreateOwner implements account.Accounts.
func (db *DB) CreateOwner(ctx context.Context, a *account.Account, k *account.Key) (created bool, err error) {
	err = db.change(ctx, func(tx *sql.Tx) error {
		var any bool
		if err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM accounts)`).Scan(&any); err != nil || any {
			return err
		}
		if err := insertAccount(tx, a); err != nil {
			return err
		}
		k.AccountID = a.ID
		created = true
		return insertKey(tx, k)
	})
	return created && err == nil, err
}

func insertAccount(tx *sql.Tx, a *account.Account) error {
	const query = `INSERT INTO accounts (email, name, timezone, created_at) VALUES (?, ?, ?, ?) RETURNING id`
	err := tx.QueryRow(query, a.Email, a.Name, a.Timezone, unix(a.CreatedAt)).Scan(&a.ID)
	if violates(err, sqlite3.SQLITE_CONSTRAINT_UNIQUE) {
		return fmt.Errorf("create account: %w", fault.Field("email", "has an account already"))
	}
	return err
}

const accountColumns = `id, email, name, timezone, created_at`

func scanAccount(row scanner) (a account.Account, err error) {
	err = row.Scan(&a.ID, &a.Email, &a.Name, &a.Timezone, instant{&a.CreatedAt})
	return a, err
}

// Accounts implements account.Accounts.
func (db *DB) Accounts(ctx context.Context) ([]account.Account, error) {
	rows, err := db.query(ctx, `SELECT `+accountColumns+` FROM accounts ORDER BY id`)
	if err != nil {
		return nil, failure(err)
	}
	return all(rows, scanAccount)
}

// Account implements account.Accounts.
func (db *DB) Account(ctx context.Context, id int64) (account.Account, error) {
	a, err := scanAccount(db.queryRow(ctx, `SELECT `+accountColumns+` FROM accounts WHERE id = ?`, id))
	return a, missing(err, "account %d", id)
}

// CreateKey implements account.Keys.
func (db *DB) CreateKey(ctx context.Context, k *account.Key, r *receipt.Receipt) error {
	return db.changeOnce(ctx, r, func(tx *sql.Tx) error { return insertKey(tx, k) })
}

func insertKey(tx *sql.Tx, k *account.Key) error {
	const query = `
		INSERT INTO keys (account_id, name, hash, scopes, created_at, last_used_at, expires_at, revoked_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`
	err := tx.QueryRow(query, k.AccountID, k.Name, k.Hash[:], k.Scopes.String(), unix(k.CreatedAt), unix(k.LastUsedAt),
		unix(k.ExpiresAt), unix(k.RevokedAt)).Scan(&k.ID)
	if violates(err, sqlite3.SQLITE_CONSTRAINT_UNIQUE) {
		return fmt.Errorf("create key: %w", fault.Field("key", "exists already"))
	}
	return ofAccount(err, k.AccountID)
}

const keyColumns = `id, account_id, name, hash, scopes, created_at, last_used_at, expires_at, revoked_at`

func scanKey(row scanner) (k account.Key, err error) {
	var hash []byte
	var scopes string
	err = row.Scan(&k.ID, &k.AccountID, &k.Name, &hash, &scopes, instant{&k.CreatedAt}, instant{&k.LastUsedAt},
		instant{&k.ExpiresAt}, instant{&k.RevokedAt})
	if err != nil {
		return k, err
	}
	copy(k.Hash[:], hash)
	k.Scopes = account.StoredScopes(scopes)
	return k, nil
}

// KeyByHash implements account.Keys.
func (db *DB) KeyByHash(ctx context.Context, hash account.Hash) (account.Key, error) {
	k, err := scanKey(db.queryRow(ctx, `SELECT `+keyColumns+` FROM keys WHERE hash = ?`, hash[:]))
	return k, missing(err, "key")
}

// Keys implements account.Keys.
func (db *DB) Keys(ctx context.Context, owner int64, r listing.Request) (listing.Page[account.Key], error) {
	return page(ctx, db, pageQuery{columns: keyColumns, from: ` FROM keys WHERE account_id = ? AND revoked_at IS NULL`, order: `id`, args: []any{owner}}, r, scanKey)
}

// AllKeys implements account.Keys.
func (db *DB) AllKeys(ctx context.Context) ([]account.Key, error) {
	rows, err := db.query(ctx, `SELECT `+keyColumns+` FROM keys ORDER BY id`)
	if err != nil {
		return nil, failure(err)
	}
	return all(rows, scanKey)
}

// RevokeKey implements account.Keys.
func (db *DB) RevokeKey(ctx context.Context, account, id int64, at time.Time) error {
	const query = `UPDATE keys SET revoked_at = ? WHERE account_id = ? AND id = ? AND revoked_at IS NULL RETURNING id`
	return db.change(ctx, func(tx *sql.Tx) error {
		return missing(tx.QueryRow(query, unix(at), account, id).Scan(&id), "key %d", id)
	})
}

// TouchKeys implements account.Keys.
func (db *DB) TouchKeys(ctx context.Context, used map[int64]time.Time) error {
	const query = `UPDATE keys SET last_used_at = ?1 WHERE id = ?2 AND coalesce(last_used_at, 0) < ?1`
	return db.change(ctx, func(tx *sql.Tx) error {
		for id, at := range used {
			if _, err := tx.Exec(query, unix(at), id); err != nil {
				return err
			}
		}
		return nil
	})
}
