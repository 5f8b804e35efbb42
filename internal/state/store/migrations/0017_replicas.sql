-- The gateways that share the store, and which of them holds what only one process can hold.
CREATE TABLE replicas (
    id      TEXT   PRIMARY KEY,
    url     TEXT   NOT NULL, -- where the others reach it
    version TEXT   NOT NULL,
    seen    BIGINT NOT NULL -- in no index, so that a heartbeat touches none
);

CREATE TABLE homes (
    kind    TEXT   NOT NULL,
    key     TEXT   NOT NULL,
    replica TEXT   NOT NULL REFERENCES replicas (id) ON DELETE CASCADE,
    PRIMARY KEY (kind, key)
);

CREATE INDEX homes_by_replica ON homes (replica);
