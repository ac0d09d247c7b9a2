-- The catalog: accounts, their keys, websites and projects.
-- Text that is sorted, searched or compared is ordered by its bytes (COLLATE "C"), as on every engine.
-- deleted_at is for a trash; until there is one, a deletion removes the row.

CREATE TABLE accounts (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email      text COLLATE "C" NOT NULL,
    name       text COLLATE "C" NOT NULL,
    timezone   text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT accounts_email UNIQUE (email)
);

CREATE TABLE keys (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id   bigint NOT NULL REFERENCES accounts (id),
    name         text COLLATE "C" NOT NULL,
    hash         bytea NOT NULL, -- SHA-256 of the secret, which is kept nowhere
    scopes       text COLLATE "C" NOT NULL,
    created_at   timestamptz NOT NULL,
    last_used_at timestamptz,
    expires_at   timestamptz,
    revoked_at   timestamptz,
    CONSTRAINT keys_hash UNIQUE (hash)
);

CREATE TABLE websites (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id     bigint NOT NULL REFERENCES accounts (id),
    url            text COLLATE "C" NOT NULL,
    domain         text COLLATE "C" NOT NULL,
    search_url     text COLLATE "C" NOT NULL, -- folded
    search_domain  text COLLATE "C" NOT NULL, -- folded
    privacy        smallint NOT NULL,
    password_hash  text COLLATE "C" NOT NULL,
    email          boolean NOT NULL,
    exclude_bots   boolean NOT NULL,
    exclude_params text COLLATE "C" NOT NULL,
    exclude_ips    text COLLATE "C" NOT NULL,
    tracking_id    text COLLATE "C" NOT NULL,
    version        bigint NOT NULL,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    deleted_at     timestamptz,
    CONSTRAINT websites_tracking_id UNIQUE (tracking_id)
);

CREATE INDEX websites_by_url ON websites (account_id, domain, url, id) WHERE deleted_at IS NULL;
CREATE INDEX websites_by_created ON websites (account_id, created_at, id) WHERE deleted_at IS NULL;

CREATE TABLE projects (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id     bigint NOT NULL REFERENCES accounts (id),
    name           text COLLATE "C" NOT NULL,
    search_name    text COLLATE "C" NOT NULL, -- folded
    reports        bigint NOT NULL,
    score          smallint,
    last_report_at timestamptz,
    version        bigint NOT NULL,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    deleted_at     timestamptz
);

CREATE UNIQUE INDEX projects_name ON projects (account_id, name) WHERE deleted_at IS NULL;
CREATE INDEX projects_by_created ON projects (account_id, created_at, id) WHERE deleted_at IS NULL;
