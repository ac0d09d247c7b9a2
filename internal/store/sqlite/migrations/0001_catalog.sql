-- Times are seconds since 1970. Folded search columns hold what listing.Fold made of the text, so that every
-- engine compares bytes. AUTOINCREMENT: ids are never reused. deleted_at foresees the trash: all indexes that
-- serve callers leave deleted rows out.

CREATE TABLE accounts (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    email      TEXT    NOT NULL UNIQUE,
    name       TEXT    NOT NULL,
    timezone   TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE keys (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id   INTEGER NOT NULL REFERENCES accounts (id),
    name         TEXT    NOT NULL,
    hash         BLOB    NOT NULL UNIQUE,
    scopes       TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    expires_at   INTEGER,
    revoked_at   INTEGER
) STRICT;

CREATE TABLE websites (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id     INTEGER NOT NULL REFERENCES accounts (id),
    url            TEXT    NOT NULL,
    domain         TEXT    NOT NULL,
    search_url     TEXT    NOT NULL,
    search_domain  TEXT    NOT NULL,
    privacy        INTEGER NOT NULL,
    password_hash  TEXT    NOT NULL,
    email          INTEGER NOT NULL,
    exclude_bots   INTEGER NOT NULL,
    exclude_params TEXT    NOT NULL,
    exclude_ips    TEXT    NOT NULL,
    tracking_id    TEXT    NOT NULL UNIQUE,
    version        INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    deleted_at     INTEGER
) STRICT;

CREATE INDEX websites_by_domain ON websites (account_id, domain, url, id) WHERE deleted_at IS NULL;
CREATE INDEX websites_by_age ON websites (account_id, created_at, id) WHERE deleted_at IS NULL;

CREATE TABLE projects (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id     INTEGER NOT NULL REFERENCES accounts (id),
    name           TEXT    NOT NULL,
    search_name    TEXT    NOT NULL,
    reports        INTEGER NOT NULL,
    score          INTEGER,
    last_report_at INTEGER,
    version        INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    deleted_at     INTEGER
) STRICT;

CREATE UNIQUE INDEX projects_by_name ON projects (account_id, name) WHERE deleted_at IS NULL;
CREATE INDEX projects_by_age ON projects (account_id, created_at, id) WHERE deleted_at IS NULL;
