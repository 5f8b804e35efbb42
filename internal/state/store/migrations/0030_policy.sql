-- Which rules of the policy applied to a call.
ALTER TABLE calls ADD COLUMN policy TEXT NOT NULL DEFAULT '';
CREATE INDEX calls_by_policy ON calls (id, policy) WHERE policy <> '';
