-- What calls cost, summed by spans of 20 minutes, so that a report need not read every call. The sums are of the calls
-- up to the id in savings_end. Whoever changes them changes its row first, so that only one does at a time.
CREATE TABLE savings (
    span          BIGINT NOT NULL,
    tool          TEXT   NOT NULL,
    profile       TEXT   NOT NULL,
    rule          TEXT   NOT NULL,
    shadow        TEXT   NOT NULL,
    calls         BIGINT NOT NULL,
    bytes_in      BIGINT NOT NULL,
    bytes_full    BIGINT NOT NULL,
    bytes_sent    BIGINT NOT NULL,
    tokens_in     BIGINT NOT NULL,
    tokens_full   BIGINT NOT NULL,
    tokens_sent   BIGINT NOT NULL,
    tokens_shadow BIGINT NOT NULL,
    PRIMARY KEY (span, tool, profile, rule, shadow)
);

CREATE TABLE savings_end (id TEXT NOT NULL);
INSERT INTO savings_end (id) VALUES ('');

-- The principal is there to turn calls away without looking them up.
CREATE INDEX calls_by_server ON calls (server, id, principal) WHERE server <> '';

-- What people have decided about a server's definitions, each by its hash. Only they change it.
CREATE TABLE decisions (
    server     TEXT   NOT NULL REFERENCES servers (id) ON DELETE CASCADE,
    kind       TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    hash       TEXT   NOT NULL,
    verdict    TEXT   NOT NULL, -- approved or kept_out
    decided_by TEXT   NOT NULL,
    at         BIGINT NOT NULL,
    PRIMARY KEY (server, kind, name, hash)
);
