-- Receipts, the clock, the trash, totals that are kept and not counted, and searches by trigrams.

CREATE TABLE receipts (
    account_id bigint NOT NULL REFERENCES accounts (id),
    operation  text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    request    bytea NOT NULL, -- SHA-256
    status     int NOT NULL,
    header     jsonb,
    answer     bytea,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, operation, key)
) WITH (fillfactor = 50); -- each is written twice: when its key is taken and when it is sealed

CREATE INDEX receipts_by_created ON receipts (created_at);

CREATE TABLE clock (
    job    text COLLATE "C" PRIMARY KEY,
    ran_at timestamptz NOT NULL
);

CREATE INDEX keys_by_account ON keys (account_id, id) WHERE revoked_at IS NULL;

-- From here to the end nobody else writes websites or projects, so that none is missed in the totals.
LOCK TABLE websites, projects IN SHARE ROW EXCLUSIVE MODE;

CREATE INDEX websites_trash ON websites (account_id, deleted_at, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX websites_purge ON websites (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX projects_trash ON projects (account_id, deleted_at, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX projects_purge ON projects (deleted_at) WHERE deleted_at IS NOT NULL;

-- With the id inside, a deep page of the names is found in the index alone.
DROP INDEX projects_name;
CREATE UNIQUE INDEX projects_name ON projects (account_id, name) INCLUDE (id) WHERE deleted_at IS NULL;

-- Room for changes: one that touches no index stays on its page and leaves the indexes alone.
ALTER TABLE websites SET (fillfactor = 90);
ALTER TABLE projects SET (fillfactor = 90);

-- How many records an account has outside the trash: the sum of its shards. Each connection keeps to one shard, so that
-- writers of one account seldom wait for each other.
CREATE TABLE totals (
    account_id bigint NOT NULL REFERENCES accounts (id),
    object     text COLLATE "C" NOT NULL,
    shard      int NOT NULL,
    n          bigint NOT NULL, -- of one shard it may be negative
    PRIMARY KEY (account_id, object, shard)
) WITH (fillfactor = 50);

INSERT INTO totals (account_id, object, shard, n)
SELECT account_id, 'website', 0, count(*) FROM websites WHERE deleted_at IS NULL GROUP BY account_id
UNION ALL
SELECT account_id, 'project', 0, count(*) FROM projects WHERE deleted_at IS NULL GROUP BY account_id;

-- Adds its second argument to the total of its first.
CREATE FUNCTION keep_total() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO totals AS kept (account_id, object, shard, n)
    VALUES (coalesce(NEW.account_id, OLD.account_id), TG_ARGV[0], pg_backend_pid() % 16, TG_ARGV[1]::bigint)
    ON CONFLICT (account_id, object, shard) DO UPDATE SET n = kept.n + excluded.n;
    RETURN NULL;
END
$$;

CREATE TRIGGER created AFTER INSERT ON websites FOR EACH ROW
    WHEN (NEW.deleted_at IS NULL) EXECUTE FUNCTION keep_total('website', '1');
CREATE TRIGGER restored AFTER UPDATE OF deleted_at ON websites FOR EACH ROW
    WHEN (OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL) EXECUTE FUNCTION keep_total('website', '1');
CREATE TRIGGER trashed AFTER UPDATE OF deleted_at ON websites FOR EACH ROW
    WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION keep_total('website', '-1');
CREATE TRIGGER erased AFTER DELETE ON websites FOR EACH ROW
    WHEN (OLD.deleted_at IS NULL) EXECUTE FUNCTION keep_total('website', '-1');

CREATE TRIGGER created AFTER INSERT ON projects FOR EACH ROW
    WHEN (NEW.deleted_at IS NULL) EXECUTE FUNCTION keep_total('project', '1');
CREATE TRIGGER restored AFTER UPDATE OF deleted_at ON projects FOR EACH ROW
    WHEN (OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL) EXECUTE FUNCTION keep_total('project', '1');
CREATE TRIGGER trashed AFTER UPDATE OF deleted_at ON projects FOR EACH ROW
    WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION keep_total('project', '-1');
CREATE TRIGGER erased AFTER DELETE ON projects FOR EACH ROW
    WHEN (OLD.deleted_at IS NULL) EXECUTE FUNCTION keep_total('project', '-1');

-- Searches in large accounts go through trigrams, where the server has them and lets us use them; elsewhere they read
-- every row of the account. Whatever is in search_domain is in search_url too, so one index serves both. New rows wait in
-- a list that each search reads as a whole: it is kept short.
DO $$
DECLARE
    place text;
BEGIN
    SELECT coalesce(min(nspname), current_schema()) INTO place FROM pg_namespace WHERE nspname = 'public';
    EXECUTE format('CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA %I', place);
    SELECT extnamespace::regnamespace::text INTO place FROM pg_extension WHERE extname = 'pg_trgm';
    EXECUTE format('CREATE INDEX websites_search ON websites USING gin (search_url %s.gin_trgm_ops)
        WITH (gin_pending_list_limit = 64) WHERE deleted_at IS NULL', place);
    EXECUTE format('CREATE INDEX projects_search ON projects USING gin (search_name %s.gin_trgm_ops)
        WITH (gin_pending_list_limit = 64) WHERE deleted_at IS NULL', place);
EXCEPTION
    WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN
        RAISE WARNING 'searches do without pg_trgm: %', SQLERRM;
END
$$;
