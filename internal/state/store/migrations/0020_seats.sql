-- What is stored of a home outlives its replica: another goes on with it. So a home refers to its replica by name only.
CREATE TABLE homes_next (
    kind    TEXT   NOT NULL,
    key     TEXT   NOT NULL,
    replica TEXT   NOT NULL, -- may have gone
    used    BIGINT NOT NULL DEFAULT 0, -- when it was claimed last
    data    BYTEA, -- sealed: the first byte says how; NULL: nothing is stored of it
    PRIMARY KEY (kind, key)
);

INSERT INTO homes_next (kind, key, replica) SELECT kind, key, replica FROM homes;

DROP TABLE homes;

ALTER TABLE homes_next RENAME TO homes;

CREATE INDEX homes_by_replica ON homes (replica);
