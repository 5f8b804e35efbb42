-- Who changed what. Rows are only added; the oldest are deleted once they are old enough.
CREATE TABLE audit (
    seq        BIGINT PRIMARY KEY, -- from 1, without gaps
    at         BIGINT NOT NULL,
    actor_kind TEXT   NOT NULL,
    actor_id   TEXT   NOT NULL,
    actor_name TEXT   NOT NULL,
    action     TEXT   NOT NULL,
    subject    TEXT   NOT NULL,
    was        BYTEA  NOT NULL, -- JSON; empty: there was nothing
    becomes    BYTEA  NOT NULL, -- JSON; empty: there is nothing any more
    key_id     BYTEA  NOT NULL, -- of the key that made the hash; empty: none
    prev       BYTEA  NOT NULL, -- the hash of the row before
    hash       BYTEA  NOT NULL
);

-- Where the log begins and ends: whoever deletes rows at either end has to change this row, too.
CREATE TABLE audit_head (
    id     BIGINT PRIMARY KEY CHECK (id = 1),
    first  BIGINT NOT NULL, -- the oldest row that is kept
    anchor BYTEA  NOT NULL, -- the hash of the row before that
    last   BIGINT NOT NULL,
    hash   BYTEA  NOT NULL, -- of the last row
    key_id BYTEA  NOT NULL,
    seal   BYTEA  NOT NULL  -- the hash of all that
);

INSERT INTO audit_head (id, first, anchor, last, hash, key_id, seal) VALUES (1, 1, '', 0, '', '', '');

-- How far each sink has got.
CREATE TABLE audit_sinks (
    name        TEXT   PRIMARY KEY,
    position    BIGINT NOT NULL, -- the last row that it has acknowledged
    lease_by    TEXT   NOT NULL, -- the gateway that sends
    lease_until BIGINT NOT NULL
);

-- Rows of the log stay as they are until the head says that it begins later.
-- only: postgres
CREATE FUNCTION toolfit_audit_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.seq < (SELECT first FROM audit_head) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only';
END $$;

CREATE TRIGGER kept BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION toolfit_audit_kept();
CREATE TRIGGER kept_whole BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION toolfit_audit_kept();

-- only: sqlite
CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;

CREATE TRIGGER audit_kept BEFORE DELETE ON audit WHEN OLD.seq >= (SELECT first FROM audit_head) BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
