CREATE TABLE sessions (
    id         TEXT   PRIMARY KEY,
    parent     TEXT   NOT NULL,
    owner      TEXT   NOT NULL,
    title      TEXT   NOT NULL,
    directory  TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE INDEX sessions_by_time ON sessions (created_at, id);

-- One row for each name, so that two who change different names do not meet.
CREATE TABLE session_metadata (
    session TEXT  NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    name    TEXT  NOT NULL,
    value   BYTEA NOT NULL, -- JSON, byte for byte as it came
    sought  TEXT  NOT NULL, -- the value as filters look for it
    PRIMARY KEY (session, name)
);

CREATE INDEX session_metadata_by_value ON session_metadata (name, sought, session);

CREATE TABLE messages (
    session  TEXT   NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    body     BYTEA  NOT NULL,
    PRIMARY KEY (session, position)
);

CREATE TABLE agents (
    id         TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL,
    body       BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE rules (
    id         TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL,
    body       BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- By which words a tool was found that was then called. The ids sort by time.
CREATE TABLE uses (
    owner TEXT   NOT NULL,
    tool  TEXT   NOT NULL,
    id    TEXT   NOT NULL,
    at    BIGINT NOT NULL,
    terms BYTEA  NOT NULL,
    PRIMARY KEY (owner, tool, id)
);

-- Runs of browser tests.
CREATE TABLE runs (
    id       TEXT   PRIMARY KEY,
    at       BIGINT NOT NULL,
    name     TEXT   NOT NULL,
    outcome  TEXT   NOT NULL,
    duration BIGINT NOT NULL,
    summary  BYTEA  NOT NULL,
    report   BYTEA  NOT NULL
);

CREATE INDEX runs_by_time ON runs (at, id);
