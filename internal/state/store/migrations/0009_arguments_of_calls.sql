-- The arguments of a call as they were sent and as they were fitted, sealed: the first byte
-- says how. NULL where the two are the same, as in most calls.
ALTER TABLE calls ADD COLUMN arguments BYTEA;
