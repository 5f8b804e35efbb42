-- Calls that outlive their request. The long columns are last: SQLite leaves their pages
-- alone when a column before them changes and keeps its size.
CREATE TABLE waiting (
    id        TEXT    PRIMARY KEY, -- that of the call's record
    owner     TEXT    NOT NULL,
    profile   TEXT    NOT NULL,
    server    TEXT    NOT NULL,
    tool      TEXT    NOT NULL,
    state     TEXT    NOT NULL, -- working or input_required; once it has ended, completed, failed or cancelled for good
    waits_for TEXT    NOT NULL,
    message   TEXT    NOT NULL,
    ref       TEXT    NOT NULL,
    attempt   BIGINT  NOT NULL,
    again     BOOLEAN NOT NULL,
    replica   TEXT    NOT NULL,
    lease     BIGINT  NOT NULL, -- in no index, so that renewing it touches none
    created   BIGINT  NOT NULL,
    updated   BIGINT  NOT NULL,
    expires   BIGINT  NOT NULL,
    version   BIGINT  NOT NULL,
    body      BYTEA, -- sealed, as are the next: the first byte says how
    questions BYTEA,
    answer    BYTEA
);

-- Few of many; with all that counting them reads.
CREATE INDEX waiting_open ON waiting (replica, owner, expires, state) WHERE state IN ('working', 'input_required');
CREATE INDEX waiting_by_owner ON waiting (owner, created, id);
CREATE INDEX waiting_by_time ON waiting (created, id);
CREATE INDEX waiting_by_expiry ON waiting (expires);
