-- Scripts that were run, and which calls they made.
CREATE TABLE script_runs (
    id      TEXT   PRIMARY KEY, -- of the record of the call that began it
    owner   TEXT   NOT NULL,
    profile TEXT   NOT NULL,
    tool    TEXT   NOT NULL, -- run_script, or a recipe
    digest  TEXT   NOT NULL, -- of what was asked
    state   TEXT   NOT NULL, -- running, paused or ended
    at      BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    version BIGINT NOT NULL, -- counts how often it was saved
    body    BYTEA  NOT NULL  -- the script and what it has called, sealed
);
CREATE INDEX script_runs_paused ON script_runs (owner, tool, digest) WHERE state = 'paused';
CREATE INDEX script_runs_by_expiry ON script_runs (expires);

ALTER TABLE calls ADD COLUMN parent TEXT NOT NULL DEFAULT '';
CREATE INDEX calls_by_parent ON calls (parent, id) WHERE parent <> '';
