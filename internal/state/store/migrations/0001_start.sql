-- Types are those that SQLite and PostgreSQL both take. Times and durations are
-- microseconds, 0 where there is none. BYTEA keeps bytes as they came.

CREATE TABLE servers (
    id         TEXT   PRIMARY KEY,
    info       BYTEA,
    listed_at  BIGINT NOT NULL,
    checked_at BIGINT NOT NULL,
    reason     TEXT   NOT NULL
);

CREATE TABLE tools (
    server     TEXT    NOT NULL REFERENCES servers (id) ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    definition BYTEA   NOT NULL,
    hash       TEXT    NOT NULL,
    held       BOOLEAN NOT NULL,
    PRIMARY KEY (server, position)
);

CREATE TABLE keys (
    id         TEXT   PRIMARY KEY,
    name       TEXT   NOT NULL UNIQUE,
    profile    TEXT   NOT NULL,
    role       TEXT   NOT NULL,
    hash       BYTEA  NOT NULL,
    created_at BIGINT NOT NULL
);

-- Every call writes here, so it has two indexes and no more: the id, which sorts by
-- time, and the principal, whose callers read only their own.
CREATE TABLE calls (
    id          TEXT   PRIMARY KEY,
    at          BIGINT NOT NULL,
    principal   TEXT   NOT NULL,
    profile     TEXT   NOT NULL,
    session     TEXT   NOT NULL,
    agent       TEXT   NOT NULL,
    mcp_session TEXT   NOT NULL,
    server      TEXT   NOT NULL,
    tool        TEXT   NOT NULL,
    upstream    TEXT   NOT NULL,
    outcome     TEXT   NOT NULL,
    code        TEXT   NOT NULL,
    message     TEXT   NOT NULL,
    level       TEXT   NOT NULL,
    duration    BIGINT NOT NULL,
    bytes_in    BIGINT NOT NULL,
    bytes_full  BIGINT NOT NULL,
    bytes_sent  BIGINT NOT NULL
);

CREATE INDEX calls_by_principal ON calls (principal, id);
