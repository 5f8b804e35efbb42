-- The rule in shadow that would have cut the result, and what would have been sent then.
ALTER TABLE calls ADD COLUMN shadow TEXT NOT NULL DEFAULT '';
ALTER TABLE calls ADD COLUMN tokens_shadow BIGINT NOT NULL DEFAULT 0;
