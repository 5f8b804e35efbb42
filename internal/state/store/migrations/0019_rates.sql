-- How much of its rate each caller has used up, over all gateways.
CREATE TABLE rates (
    caller  TEXT   PRIMARY KEY,
    full_at BIGINT NOT NULL, -- when all tokens are back, in nanoseconds
    taken   BIGINT NOT NULL  -- how many were taken last
);

-- A program that does not know this version of the schema may use it if it knows the oldest.
ALTER TABLE schema_version ADD COLUMN oldest INTEGER NOT NULL DEFAULT 0;
