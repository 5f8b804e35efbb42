-- How much was said in a session, so that sessions can be bounded without reading what was said.
ALTER TABLE sessions ADD COLUMN said BIGINT NOT NULL DEFAULT 0; -- bytes of its messages
UPDATE sessions SET said = (SELECT coalesce(sum(octet_length(body) + 150), 0) FROM messages WHERE session = sessions.id);
