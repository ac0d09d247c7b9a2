package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"sightline/internal/account"
	"sightline/internal/listing"
	"sightline/internal/receipt"
)

// CreateAccount implements account.Accounts.
func (db *DB) CreateAccount(ctx context.Context, a *account.Account) error {
	id, err := insertAccount(ctx, db.pool, a)
	if err != nil {
		return db.explain(ctx, "create account", err)
	}
	a.ID = id
	return nil
}

// CreateOwner implements account.Accounts.
func (db *DB) CreateOwner(ctx context.Context, a *account.Account, k *account.Key) (bool, error) {
	var owner account.Account
	var key account.Key
	err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) (err error) {
		// No other account can come into being between the look and the insert.
		if _, err = tx.Exec(ctx, `LOCK TABLE accounts IN SHARE ROW EXCLUSIVE MODE`); err != nil {
			return err
		}
		var exists bool
		if err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM accounts)`).Scan(&exists); err != nil || exists {
			return err
		}
		owner, key = *a, *k
		if owner.ID, err = insertAccount(ctx, tx, a); err != nil {
			return err
		}
		key.AccountID = owner.ID
		key.ID, err = insertKey(ctx, tx, &key)
		return err
	})
	if err != nil || owner.ID == 0 {
		return false, db.explain(ctx, "create owner", err)
	}
	*a, *k = owner, key
	return true, nil
}

func insertAccount(ctx context.Context, q querier, a *account.Account) (id int64, err error) {
	const query = `
		INSERT INTO accounts (email, name, timezone, created_at)
		VALUES (@email, @name, @timezone, @created_at)
		RETURNING id`
	args := pgx.NamedArgs{"email": a.Email, "name": a.Name, "timezone": a.Timezone, "created_at": a.CreatedAt}
	err = q.QueryRow(ctx, query, args).Scan(&id)
	return id, err
}

// Accounts implements account.Accounts.
func (db *DB) Accounts(ctx context.Context) ([]account.Account, error) {
	return all(ctx, db, "accounts", `SELECT `+accountColumns+` FROM accounts ORDER BY id`, scanAccount)
}

// Account implements account.Accounts.
func (db *DB) Account(ctx context.Context, id int64) (account.Account, error) {
	a, err := single(ctx, db.pool, `SELECT `+accountColumns+` FROM accounts WHERE id = @id`, pgx.NamedArgs{"id": id}, scanAccount)
	return a, db.explain(ctx, fmt.Sprintf("account %d", id), err)
}

const accountColumns = `id, email, name, timezone, created_at`

func scanAccount(row pgx.CollectableRow) (a account.Account, err error) {
	err = row.Scan(&a.ID, &a.Email, &a.Name, &a.Timezone, &a.CreatedAt)
	a.CreatedAt = a.CreatedAt.UTC()
	return a, err
}

const keyColumns = `id, account_id, name, hash, scopes, created_at, last_used_at, expires_at, revoked_at`

func scanKey(row pgx.CollectableRow) (account.Key, error) {
	var k account.Key
	var hash []byte
	var scopes string
	var used, expires, revoked *time.Time
	err := row.Scan(&k.ID, &k.AccountID, &k.Name, &hash, &scopes, &k.CreatedAt, &used, &expires, &revoked)
	if err != nil {
		return account.Key{}, err
	}
	k.Scopes = account.StoredScopes(scopes)
	copy(k.Hash[:], hash)
	k.CreatedAt = k.CreatedAt.UTC()
	k.LastUsedAt, k.ExpiresAt, k.RevokedAt = orZero(used), orZero(expires), orZero(revoked)
	return k, nil
}

// CreateKey implements account.Keys.
func (db *DB) CreateKey(ctx context.Context, k *account.Key, r *receipt.Receipt) error {
	return db.once(ctx, "create key", r, func(q querier) error {
		id, err := insertKey(ctx, q, k)
		if err == nil {
			k.ID = id
		}
		return err
	})
}

func insertKey(ctx context.Context, q querier, k *account.Key) (id int64, err error) {
	const query = `
		INSERT INTO keys (account_id, name, hash, scopes, created_at, last_used_at, expires_at, revoked_at)
		VALUES (@account, @name, @hash, @scopes, @created_at, @last_used_at, @expires_at, @revoked_at)
		RETURNING id`
	err = q.QueryRow(ctx, query, pgx.NamedArgs{
		"account": k.AccountID, "name": k.Name, "hash": k.Hash[:], "scopes": k.Scopes.String(), "created_at": k.CreatedAt,
		"last_used_at": orNull(k.LastUsedAt), "expires_at": orNull(k.ExpiresAt), "revoked_at": orNull(k.RevokedAt),
	}).Scan(&id)
	return id, err
}

// KeyByHash implements account.Keys.
func (db *DB) KeyByHash(ctx context.Context, hash account.Hash) (account.Key, error) {
	const query = `SELECT ` + keyColumns + ` FROM keys WHERE hash = @hash`
	k, err := single(ctx, db.pool, query, pgx.NamedArgs{"hash": hash[:]}, scanKey)
	return k, db.explain(ctx, "key", err)
}

// Keys implements account.Keys.
func (db *DB) Keys(ctx context.Context, owner int64, r listing.Request) (listing.Page[account.Key], error) {
	const from = ` FROM keys WHERE account_id = @account AND revoked_at IS NULL`
	const page = `SELECT ` + keyColumns + from + ` ORDER BY id LIMIT @limit OFFSET @offset`
	args := pgx.NamedArgs{"account": owner, "limit": r.PerPage, "offset": r.Offset()}
	return list(ctx, db, "keys", page, `SELECT count(*)`+from, args, scanKey)
}

// AllKeys implements account.Keys.
func (db *DB) AllKeys(ctx context.Context) ([]account.Key, error) {
	const query = `SELECT ` + keyColumns + ` FROM keys ORDER BY id`
	return all(ctx, db, "keys", query, scanKey)
}

// RevokeKey implements account.Keys.
func (db *DB) RevokeKey(ctx context.Context, account, id int64, at time.Time) error {
	const statement = `
		UPDATE keys
		SET revoked_at = @at
		WHERE account_id = @account AND id = @id AND revoked_at IS NULL`
	return db.one(ctx, fmt.Sprintf("key %d", id), statement, pgx.NamedArgs{"account": account, "id": id, "at": at})
}

// TouchKeys implements account.Keys.
func (db *DB) TouchKeys(ctx context.Context, used map[int64]time.Time) error {
	const statement = `
		UPDATE keys
		SET last_used_at = later.at
		FROM ( -- locks in the order of the ids, so that two servers never wait for each other
			SELECT k.id, used.at
			FROM unnest(@ids::bigint[], @times::timestamptz[]) AS used (id, at)
			JOIN keys k ON k.id = used.id
			WHERE k.last_used_at IS NULL OR k.last_used_at < used.at
			ORDER BY k.id
			FOR NO KEY UPDATE OF k
		) AS later
		WHERE keys.id = later.id`
	ids := slices.Collect(maps.Keys(used))
	times := make([]time.Time, len(ids))
	for i, id := range ids {
		times[i] = used[id]
	}
	_, err := db.pool.Exec(ctx, statement, pgx.NamedArgs{"ids": ids, "times": times})
	return db.explain(ctx, "touch keys", err)
}
