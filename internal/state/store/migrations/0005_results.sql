-- Whole results, for stores that several gateways share. A SQLite store keeps them in
-- files beside it, and this table stays empty.

CREATE TABLE results (
    ref     TEXT   NOT NULL,
    owner   TEXT   NOT NULL,
    call    TEXT   NOT NULL,
    server  TEXT   NOT NULL,
    tool    TEXT   NOT NULL,
    profile TEXT   NOT NULL,
    session TEXT   NOT NULL,
    rule    TEXT   NOT NULL,
    args    BYTEA  NOT NULL, -- sealed, as is the body: the first byte says how
    body    BYTEA  NOT NULL,
    size    BIGINT NOT NULL, -- of both
    at      BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    PRIMARY KEY (ref, owner)
);

CREATE INDEX results_by_time ON results (at, ref);
CREATE INDEX results_by_call ON results (call);
CREATE INDEX results_by_expiry ON results (expires) WHERE expires > 0;
