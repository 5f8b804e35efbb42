-- Logs are asked for by session, agent, level and caller, in any combination. The columns
-- after the id are there to turn calls away without looking them up.

DROP INDEX calls_by_session;
DROP INDEX calls_by_agent;
CREATE INDEX calls_by_session ON calls (session, id, level, agent, principal) WHERE session <> '';
CREATE INDEX calls_by_agent ON calls (agent, id, level) WHERE agent <> '';
CREATE INDEX calls_by_own_agent ON calls (principal, agent, id, level) WHERE agent <> '';

-- Few calls are warnings or errors, so these cost little. An agent or a caller may have many
-- calls and none of these.
CREATE INDEX calls_warned_by_agent ON calls (agent, id, level, principal) WHERE level IN ('warn', 'error') AND agent <> '';
CREATE INDEX calls_warned_by_principal ON calls (principal, id, level) WHERE level IN ('warn', 'error');
