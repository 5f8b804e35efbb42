-- A key may end. When its secret is replaced, the one before works on for a while. A program that does not know several
-- profiles takes "a,b" for the name of one that does not exist, and lets nobody in.
ALTER TABLE keys ADD COLUMN expires_at BIGINT NOT NULL DEFAULT 0; -- 0: never
ALTER TABLE keys ADD COLUMN old_hash BYTEA; -- of the secret before; NULL: there was none
ALTER TABLE keys ADD COLUMN old_until BIGINT NOT NULL DEFAULT 0; -- when that one ends
ALTER TABLE keys ADD COLUMN origin TEXT NOT NULL DEFAULT ''; -- the variable that has its text; '': none

-- When each key was last used. This is no column of keys: the gateways hear of every change there.
CREATE TABLE key_uses (
    key     TEXT   PRIMARY KEY,
    used_at BIGINT NOT NULL
);
