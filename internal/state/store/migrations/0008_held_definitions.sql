-- The definition of a held tool that was let through before; NULL when there was none.
ALTER TABLE tools ADD COLUMN was BYTEA;
