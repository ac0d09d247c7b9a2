-- The trash, receipts of writes that came with an idempotency key, the clock's jobs, and totals that are kept, not counted.

CREATE INDEX websites_trash ON websites (account_id, deleted_at, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX websites_purge ON websites (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX projects_trash ON projects (account_id, deleted_at, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX projects_purge ON projects (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE receipts (
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    operation  TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    request    BLOB    NOT NULL,
    status     INTEGER NOT NULL,
    header     TEXT    NOT NULL, -- JSON
    answer     BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, operation, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX receipts_by_age ON receipts (created_at);

CREATE TABLE clock (
    job    TEXT    NOT NULL PRIMARY KEY,
    ran_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- How many records of a kind an account has outside the trash. The triggers keep it right whatever writes.
CREATE TABLE totals (
    account_id INTEGER NOT NULL,
    object     TEXT    NOT NULL,
    n          INTEGER NOT NULL,
    PRIMARY KEY (account_id, object)
) STRICT, WITHOUT ROWID;

INSERT INTO totals SELECT account_id, 'website', count(*) FROM websites WHERE deleted_at IS NULL GROUP BY account_id;
INSERT INTO totals SELECT account_id, 'project', count(*) FROM projects WHERE deleted_at IS NULL GROUP BY account_id;

CREATE TRIGGER websites_created AFTER INSERT ON websites WHEN NEW.deleted_at IS NULL BEGIN
    INSERT INTO totals VALUES (NEW.account_id, 'website', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER websites_erased AFTER DELETE ON websites WHEN OLD.deleted_at IS NULL BEGIN
    UPDATE totals SET n = n - 1 WHERE account_id = OLD.account_id AND object = 'website';
END;
CREATE TRIGGER websites_moved AFTER UPDATE OF deleted_at ON websites WHEN (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) BEGIN
    UPDATE totals SET n = n + iif(NEW.deleted_at IS NULL, 1, -1) WHERE account_id = NEW.account_id AND object = 'website';
END;

CREATE TRIGGER projects_created AFTER INSERT ON projects WHEN NEW.deleted_at IS NULL BEGIN
    INSERT INTO totals VALUES (NEW.account_id, 'project', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER projects_erased AFTER DELETE ON projects WHEN OLD.deleted_at IS NULL BEGIN
    UPDATE totals SET n = n - 1 WHERE account_id = OLD.account_id AND object = 'project';
END;
CREATE TRIGGER projects_moved AFTER UPDATE OF deleted_at ON projects WHEN (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) BEGIN
    UPDATE totals SET n = n + iif(NEW.deleted_at IS NULL, 1, -1) WHERE account_id = NEW.account_id AND object = 'project';
END;

CREATE INDEX keys_by_account ON keys (account_id, id) WHERE revoked_at IS NULL;

-- Substring search for large accounts. The index is of all accounts' rows; small accounts scan their own instead. New rows are
-- indexed a thousand at a time: one by one, each would cost the index a segment of its own and the merging of it. Until then a
-- search looks at them too, see page.go.
CREATE TABLE indexed (
    name  TEXT    NOT NULL PRIMARY KEY,
    last  INTEGER NOT NULL, -- the rows up to this id are in the index
    batch INTEGER NOT NULL  -- with so many more, those are put there too
) STRICT, WITHOUT ROWID;

-- What the count of a search reads that the trigrams cannot serve, and nothing more. SQLite takes an index for complete only
-- when deleted_at is in it.
CREATE INDEX websites_by_text ON websites (account_id, deleted_at, search_url, search_domain) WHERE deleted_at IS NULL;
CREATE INDEX projects_by_text ON projects (account_id, deleted_at, search_name) WHERE deleted_at IS NULL;

CREATE VIRTUAL TABLE websites_text USING fts5 (search_url, content = 'websites', content_rowid = 'id', tokenize = 'trigram case_sensitive 1');
INSERT INTO websites_text (rowid, search_url) SELECT id, search_url FROM websites;
INSERT INTO indexed SELECT 'websites', coalesce(max(id), 0), 1000 FROM websites;
CREATE TRIGGER websites_text_created AFTER INSERT ON websites WHEN NEW.id >= (SELECT last + batch FROM indexed WHERE name = 'websites') BEGIN
    INSERT INTO websites_text (rowid, search_url) SELECT id, search_url FROM websites WHERE id > (SELECT last FROM indexed WHERE name = 'websites');
    UPDATE indexed SET last = NEW.id WHERE name = 'websites';
END;
CREATE TRIGGER websites_text_created_late AFTER INSERT ON websites WHEN NEW.id < (SELECT last FROM indexed WHERE name = 'websites') BEGIN
    INSERT INTO websites_text (rowid, search_url) VALUES (NEW.id, NEW.search_url);
END;
CREATE TRIGGER websites_text_erased AFTER DELETE ON websites WHEN OLD.id <= (SELECT last FROM indexed WHERE name = 'websites') BEGIN
    INSERT INTO websites_text (websites_text, rowid, search_url) VALUES ('delete', OLD.id, OLD.search_url);
END;
CREATE TRIGGER websites_text_changed AFTER UPDATE OF search_url ON websites
WHEN OLD.search_url <> NEW.search_url AND OLD.id <= (SELECT last FROM indexed WHERE name = 'websites') BEGIN
    INSERT INTO websites_text (websites_text, rowid, search_url) VALUES ('delete', OLD.id, OLD.search_url);
    INSERT INTO websites_text (rowid, search_url) VALUES (NEW.id, NEW.search_url);
END;

CREATE VIRTUAL TABLE projects_text USING fts5 (search_name, content = 'projects', content_rowid = 'id', tokenize = 'trigram case_sensitive 1');
INSERT INTO projects_text (rowid, search_name) SELECT id, search_name FROM projects;
INSERT INTO indexed SELECT 'projects', coalesce(max(id), 0), 1000 FROM projects;
CREATE TRIGGER projects_text_created AFTER INSERT ON projects WHEN NEW.id >= (SELECT last + batch FROM indexed WHERE name = 'projects') BEGIN
    INSERT INTO projects_text (rowid, search_name) SELECT id, search_name FROM projects WHERE id > (SELECT last FROM indexed WHERE name = 'projects');
    UPDATE indexed SET last = NEW.id WHERE name = 'projects';
END;
CREATE TRIGGER projects_text_created_late AFTER INSERT ON projects WHEN NEW.id < (SELECT last FROM indexed WHERE name = 'projects') BEGIN
    INSERT INTO projects_text (rowid, search_name) VALUES (NEW.id, NEW.search_name);
END;
CREATE TRIGGER projects_text_erased AFTER DELETE ON projects WHEN OLD.id <= (SELECT last FROM indexed WHERE name = 'projects') BEGIN
    INSERT INTO projects_text (projects_text, rowid, search_name) VALUES ('delete', OLD.id, OLD.search_name);
END;
CREATE TRIGGER projects_text_changed AFTER UPDATE OF search_name ON projects
WHEN OLD.search_name <> NEW.search_name AND OLD.id <= (SELECT last FROM indexed WHERE name = 'projects') BEGIN
    INSERT INTO projects_text (projects_text, rowid, search_name) VALUES ('delete', OLD.id, OLD.search_name);
    INSERT INTO projects_text (rowid, search_name) VALUES (NEW.id, NEW.search_name);
END;
