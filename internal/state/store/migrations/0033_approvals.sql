-- What people are asked before a call is made, and what they have decided.
CREATE TABLE approvals (
    id         TEXT    PRIMARY KEY,
    principal  TEXT    NOT NULL, -- who makes the call
    profile    TEXT    NOT NULL,
    server     TEXT    NOT NULL,
    tool       TEXT    NOT NULL,
    digest     TEXT    NOT NULL, -- of the arguments and of the rules that ask
    call       TEXT    NOT NULL, -- the record of the call that asked first
    about      BYTEA   NOT NULL, -- who asks, the arguments and the rules, sealed
    state      TEXT    NOT NULL, -- open, approved, denied, used or canceled
    standing   BOOLEAN NOT NULL, -- it counts for the next such call; not once it is used, canceled or replaced
    created_at BIGINT  NOT NULL,
    expires_at BIGINT  NOT NULL,
    decided_at BIGINT  NOT NULL DEFAULT 0,
    decided_by TEXT    NOT NULL DEFAULT '',
    reason     TEXT    NOT NULL DEFAULT ''
);

-- Two gateways that are asked the same at once ask one question.
CREATE UNIQUE INDEX approvals_standing ON approvals (principal, tool, digest) WHERE standing;
CREATE INDEX approvals_by_time ON approvals (created_at, id);
