-- What was repaired, which rule cut the result, where the rest of it is, and what it cost.

ALTER TABLE calls ADD COLUMN repairs TEXT NOT NULL DEFAULT ''; -- a JSON list, '' where there are none
ALTER TABLE calls ADD COLUMN rule TEXT NOT NULL DEFAULT '';
ALTER TABLE calls ADD COLUMN ref TEXT NOT NULL DEFAULT '';
ALTER TABLE calls ADD COLUMN trace TEXT NOT NULL DEFAULT '';
ALTER TABLE calls ADD COLUMN tokens_in BIGINT NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN tokens_full BIGINT NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN tokens_sent BIGINT NOT NULL DEFAULT 0;

-- Every call writes to the two indexes that there are. These hold only the calls that have
-- what they are for, so that a plain call writes to none of them.
CREATE INDEX calls_by_session ON calls (session, id) WHERE session <> '';
CREATE INDEX calls_by_agent ON calls (agent, id) WHERE agent <> '';
CREATE INDEX calls_by_rule ON calls (rule, id) WHERE rule <> '';

-- The other columns are there to turn calls away without looking them up.
CREATE INDEX calls_with_warnings ON calls (id, principal, agent) WHERE level IN ('warn', 'error');
CREATE INDEX calls_with_errors ON calls (id, principal, agent) WHERE level = 'error';
