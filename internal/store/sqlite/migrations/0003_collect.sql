-- What the collector needs: websites by domain, whoever owns them, and the secrets of the visitor hashes.

CREATE INDEX websites_tracked ON websites (domain, id) WHERE deleted_at IS NULL;

CREATE TABLE salts (
    day  INTEGER PRIMARY KEY, -- since 1970
    salt BLOB NOT NULL
) STRICT;

-- Websites that are erased for good, whoever did it: their events are elsewhere, and must follow.
CREATE TABLE erasures (
    website_id INTEGER PRIMARY KEY,
    at         INTEGER NOT NULL
) STRICT;

CREATE TRIGGER websites_erasure AFTER DELETE ON websites BEGIN
    INSERT INTO erasures VALUES (OLD.id, unixepoch());
END;
