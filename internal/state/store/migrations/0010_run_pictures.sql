-- Pictures of a run, apart from its report: who reads the one does not read the other.
-- Runs that were kept before have theirs inside the report.
CREATE TABLE run_pictures (
    run  TEXT   NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    step BIGINT NOT NULL,
    type TEXT   NOT NULL,
    data BYTEA  NOT NULL,
    PRIMARY KEY (run, step)
);
