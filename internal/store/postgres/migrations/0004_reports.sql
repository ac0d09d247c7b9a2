-- Reports, the runs of their audits, and what those found. What a run leaves behind is erased bit by bit: a run without report_id is
-- of a report that was erased, or too old, and one with leftover has ended and needs its crawl_items no more.

CREATE TABLE reports (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id    bigint NOT NULL REFERENCES accounts (id),
    project_id    bigint NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    url           text COLLATE "C" NOT NULL,
    search_url    text COLLATE "C" NOT NULL, -- folded
    scope         text COLLATE "C" NOT NULL,
    max_pages     int NOT NULL,
    max_depth     int NOT NULL,
    sitemap       text COLLATE "C" NOT NULL,
    ignore_robots boolean NOT NULL,
    privacy       smallint NOT NULL,
    password_hash text COLLATE "C" NOT NULL,
    state         text COLLATE "C" NOT NULL,
    run           int NOT NULL, -- the number of the newest
    stopping      boolean NOT NULL,
    done          int NOT NULL, -- pages
    found         int NOT NULL, -- pages
    current       text COLLATE "C" NOT NULL,
    score         smallint, -- that of outcome
    outcome       text COLLATE "C" NOT NULL, -- JSON
    version       bigint NOT NULL,
    queued_at     timestamptz NOT NULL,
    generated_at  timestamptz,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    owner         text COLLATE "C" NOT NULL, -- of the lease; empty: none
    lease_until   timestamptz,
    deleted_at    timestamptz,
    with_project  boolean NOT NULL -- deleted together with its project
) WITH (fillfactor = 70); -- each is written often while its audit goes on

CREATE INDEX reports_by_id ON reports (account_id, id) WHERE deleted_at IS NULL;
CREATE INDEX reports_by_generated ON reports (account_id, generated_at NULLS FIRST, id) WHERE deleted_at IS NULL;
CREATE INDEX reports_by_url ON reports (account_id, url, id) WHERE deleted_at IS NULL;
CREATE INDEX reports_by_score ON reports (account_id, score NULLS FIRST, id) WHERE deleted_at IS NULL;
CREATE INDEX reports_by_project ON reports (project_id, id);
CREATE INDEX reports_newest ON reports (project_id, generated_at, id) WHERE score IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX reports_active ON reports (account_id, queued_at, id) WHERE state IN ('queued', 'running') AND deleted_at IS NULL;
CREATE INDEX reports_trash ON reports (account_id, deleted_at, id) WHERE deleted_at IS NOT NULL AND NOT with_project;
CREATE INDEX reports_purge ON reports (deleted_at) WHERE deleted_at IS NOT NULL AND NOT with_project;

CREATE TRIGGER created AFTER INSERT ON reports FOR EACH ROW
    WHEN (NEW.deleted_at IS NULL) EXECUTE FUNCTION keep_total('report', '1');
CREATE TRIGGER restored AFTER UPDATE OF deleted_at ON reports FOR EACH ROW
    WHEN (OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL) EXECUTE FUNCTION keep_total('report', '1');
CREATE TRIGGER trashed AFTER UPDATE OF deleted_at ON reports FOR EACH ROW
    WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION keep_total('report', '-1');
CREATE TRIGGER erased AFTER DELETE ON reports FOR EACH ROW
    WHEN (OLD.deleted_at IS NULL) EXECUTE FUNCTION keep_total('report', '-1');

-- Trigrams where there are any, as for websites and projects.
DO $$
DECLARE
    place text;
BEGIN
    SELECT extnamespace::regnamespace::text INTO place FROM pg_extension WHERE extname = 'pg_trgm';
    IF place IS NOT NULL THEN
        EXECUTE format('CREATE INDEX reports_search ON reports USING gin (search_url %s.gin_trgm_ops)
            WITH (gin_pending_list_limit = 1024) WHERE deleted_at IS NULL', place);
    END IF;
END
$$;

CREATE TABLE runs (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    report_id   bigint REFERENCES reports (id) ON DELETE SET NULL,
    number      int NOT NULL,
    state       text COLLATE "C" NOT NULL,
    queued_at   timestamptz NOT NULL,
    started_at  timestamptz,
    ended_at    timestamptz,
    outcome     text COLLATE "C" NOT NULL, -- JSON
    pages       int NOT NULL,
    pages_done  int NOT NULL,
    checks      int NOT NULL,
    checks_done int NOT NULL,
    fetched     int NOT NULL,
    cut         text COLLATE "C" NOT NULL,
    items       bigint NOT NULL, -- the last number given to one
    site        text COLLATE "C" NOT NULL, -- JSON; empty: nothing is known
    leftover    boolean NOT NULL,
    CONSTRAINT runs_by_report UNIQUE (report_id, number)
) WITH (fillfactor = 70);

CREATE INDEX runs_leftover ON runs (id) WHERE report_id IS NULL OR leftover;

CREATE TABLE crawl_items (
    run_id   bigint NOT NULL REFERENCES runs (id),
    kind     text COLLATE "C" NOT NULL,
    url      text COLLATE "C" NOT NULL,
    number   bigint NOT NULL, -- in the order in which they were found
    rank     int NOT NULL, -- lower ranks come first
    depth    int NOT NULL,
    unlinked boolean NOT NULL,
    found_on text COLLATE "C" NOT NULL,
    done     boolean NOT NULL,
    PRIMARY KEY (run_id, kind, url)
);

CREATE INDEX crawl_items_waiting ON crawl_items (run_id, (kind = 'page'), rank, number) WHERE NOT done;

CREATE TABLE pages (
    run_id     bigint NOT NULL REFERENCES runs (id),
    url        text COLLATE "C" NOT NULL,
    class      text COLLATE "C" NOT NULL,
    passed     int NOT NULL, -- points
    applicable int NOT NULL, -- points
    value      int NOT NULL,
    score      int NOT NULL, -- value, or -1 where it does not count
    facts      bytea NOT NULL,
    PRIMARY KEY (run_id, url)
);

ALTER TABLE pages ALTER COLUMN facts SET STORAGE EXTERNAL; -- they are compressed already
CREATE INDEX pages_by_class ON pages (run_id, class, url);
CREATE INDEX pages_by_score ON pages (run_id, score, url);

CREATE TABLE resources (
    run_id  bigint NOT NULL REFERENCES runs (id),
    url     text COLLATE "C" NOT NULL,
    details text COLLATE "C" NOT NULL, -- JSON
    PRIMARY KEY (run_id, url)
);

CREATE TABLE findings (
    run_id   bigint NOT NULL REFERENCES runs (id),
    severity smallint NOT NULL, -- 1 error, 2 warning, 3 notice
    check_id text COLLATE "C" NOT NULL,
    page     text COLLATE "C" NOT NULL,
    details  text COLLATE "C" NOT NULL, -- JSON
    PRIMARY KEY (run_id, severity, check_id, page)
);

CREATE INDEX findings_by_page ON findings (run_id, page);
