-- What the collector needs: websites by domain, whoever owns them, and the secrets of the visitor hashes.

CREATE INDEX websites_tracked ON websites (domain, id) WHERE deleted_at IS NULL;

CREATE TABLE salts (
    day  bigint PRIMARY KEY, -- since 1970
    salt bytea NOT NULL
);

-- Websites that are erased for good, whoever did it: their events are elsewhere, and must follow.
CREATE TABLE erasures (
    website_id bigint PRIMARY KEY,
    at         timestamptz NOT NULL DEFAULT now()
);

CREATE FUNCTION note_erasure() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO erasures (website_id) VALUES (OLD.id);
    RETURN NULL;
END
$$;

CREATE TRIGGER erasure AFTER DELETE ON websites FOR EACH ROW EXECUTE FUNCTION note_erasure();
