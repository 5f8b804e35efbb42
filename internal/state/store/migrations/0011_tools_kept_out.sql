-- A held tool that somebody has decided to keep out: it waits for nobody any more.
ALTER TABLE tools ADD COLUMN kept_out BOOLEAN NOT NULL DEFAULT FALSE;
