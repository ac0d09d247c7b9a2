-- Reports, the runs of their audits, and what those found. What a run leaves behind is erased bit by bit: a run without report_id is
-- of a report that was erased, or too old, and one with leftover has ended and needs its crawl_items no more.

CREATE TABLE reports (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id    INTEGER NOT NULL REFERENCES accounts (id),
    project_id    INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    url           TEXT    NOT NULL,
    search_url    TEXT    NOT NULL,
    scope         TEXT    NOT NULL,
    max_pages     INTEGER NOT NULL,
    max_depth     INTEGER NOT NULL,
    sitemap       TEXT    NOT NULL,
    ignore_robots INTEGER NOT NULL,
    privacy       INTEGER NOT NULL,
    password_hash TEXT    NOT NULL,
    state         TEXT    NOT NULL,
    run           INTEGER NOT NULL, -- the number of the newest
    stopping      INTEGER NOT NULL,
    done          INTEGER NOT NULL, -- pages
    found         INTEGER NOT NULL, -- pages
    current       TEXT    NOT NULL,
    score         INTEGER,          -- that of outcome
    outcome       TEXT    NOT NULL, -- JSON
    version       INTEGER NOT NULL,
    queued_at     INTEGER NOT NULL,
    generated_at  INTEGER,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    owner         TEXT    NOT NULL, -- of the lease; empty: none
    lease_until   INTEGER,
    deleted_at    INTEGER,
    with_project  INTEGER NOT NULL  -- deleted together with its project
) STRICT;

CREATE INDEX reports_by_id ON reports (account_id, id) WHERE deleted_at IS NULL;
CREATE INDEX reports_by_age ON reports (account_id, generated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX reports_by_url ON reports (account_id, url, id) WHERE deleted_at IS NULL;
CREATE INDEX reports_by_score ON reports (account_id, score, id) WHERE deleted_at IS NULL;
CREATE INDEX reports_by_project ON reports (project_id, id);
CREATE INDEX reports_newest ON reports (project_id, generated_at, id) WHERE score IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX reports_active ON reports (account_id, queued_at, id) WHERE state IN ('queued', 'running') AND deleted_at IS NULL;
CREATE INDEX reports_trash ON reports (account_id, deleted_at, id) WHERE deleted_at IS NOT NULL AND NOT with_project;
CREATE INDEX reports_purge ON reports (deleted_at) WHERE deleted_at IS NOT NULL AND NOT with_project;

CREATE TRIGGER reports_created AFTER INSERT ON reports WHEN NEW.deleted_at IS NULL BEGIN
    INSERT INTO totals VALUES (NEW.account_id, 'report', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER reports_erased AFTER DELETE ON reports WHEN OLD.deleted_at IS NULL BEGIN
    UPDATE totals SET n = n - 1 WHERE account_id = OLD.account_id AND object = 'report';
END;
CREATE TRIGGER reports_moved AFTER UPDATE OF deleted_at ON reports WHEN (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) BEGIN
    UPDATE totals SET n = n + iif(NEW.deleted_at IS NULL, 1, -1) WHERE account_id = NEW.account_id AND object = 'report';
END;

CREATE VIRTUAL TABLE reports_text USING fts5 (search_url, content = 'reports', content_rowid = 'id', tokenize = 'trigram case_sensitive 1');
CREATE TRIGGER reports_text_created AFTER INSERT ON reports BEGIN
    INSERT INTO reports_text (rowid, search_url) VALUES (NEW.id, NEW.search_url);
END;
CREATE TRIGGER reports_text_erased AFTER DELETE ON reports BEGIN
    INSERT INTO reports_text (reports_text, rowid, search_url) VALUES ('delete', OLD.id, OLD.search_url);
END;

CREATE TABLE runs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    report_id   INTEGER REFERENCES reports (id) ON DELETE SET NULL,
    number      INTEGER NOT NULL,
    state       TEXT    NOT NULL,
    queued_at   INTEGER NOT NULL,
    started_at  INTEGER,
    ended_at    INTEGER,
    outcome     TEXT    NOT NULL, -- JSON
    pages       INTEGER NOT NULL,
    pages_done  INTEGER NOT NULL,
    checks      INTEGER NOT NULL,
    checks_done INTEGER NOT NULL,
    fetched     INTEGER NOT NULL,
    cut         TEXT    NOT NULL,
    items       INTEGER NOT NULL, -- the last number given to one
    site        TEXT    NOT NULL, -- JSON; empty: nothing is known
    leftover    INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX runs_by_report ON runs (report_id, number);
CREATE INDEX runs_leftover ON runs (id) WHERE report_id IS NULL OR leftover;

CREATE TABLE crawl_items (
    run_id   INTEGER NOT NULL REFERENCES runs (id),
    kind     TEXT    NOT NULL,
    url      TEXT    NOT NULL,
    number   INTEGER NOT NULL, -- in the order in which they were found
    rank     INTEGER NOT NULL, -- lower ranks come first
    depth    INTEGER NOT NULL,
    unlinked INTEGER NOT NULL,
    found_on TEXT    NOT NULL,
    done     INTEGER NOT NULL,
    PRIMARY KEY (run_id, kind, url)
) STRICT, WITHOUT ROWID;

CREATE INDEX crawl_items_waiting ON crawl_items (run_id, (kind = 'page'), rank, number) WHERE NOT done;

CREATE TABLE pages (
    run_id     INTEGER NOT NULL REFERENCES runs (id),
    url        TEXT    NOT NULL,
    class      TEXT    NOT NULL,
    passed     INTEGER NOT NULL, -- points
    applicable INTEGER NOT NULL, -- points
    value      INTEGER NOT NULL,
    score      INTEGER NOT NULL, -- value, or -1 where it does not count
    facts      BLOB    NOT NULL,
    UNIQUE (run_id, url)
) STRICT;

CREATE INDEX pages_by_class ON pages (run_id, class, url);
CREATE INDEX pages_by_score ON pages (run_id, score, url);

CREATE TABLE resources (
    run_id  INTEGER NOT NULL REFERENCES runs (id),
    url     TEXT    NOT NULL,
    details TEXT    NOT NULL, -- JSON
    PRIMARY KEY (run_id, url)
) STRICT, WITHOUT ROWID;

CREATE TABLE findings (
    run_id   INTEGER NOT NULL REFERENCES runs (id),
    severity INTEGER NOT NULL, -- 1 error, 2 warning, 3 notice
    check_id TEXT    NOT NULL,
    page     TEXT    NOT NULL,
    details  TEXT    NOT NULL, -- JSON
    PRIMARY KEY (run_id, severity, check_id, page)
) STRICT, WITHOUT ROWID;

CREATE INDEX findings_by_page ON findings (run_id, page);
