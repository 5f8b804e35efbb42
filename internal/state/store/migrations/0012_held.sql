-- What is held of all that a server offers, in place of columns beside its tools.
CREATE TABLE held (
    server   TEXT    NOT NULL REFERENCES servers (id) ON DELETE CASCADE,
    kind     TEXT    NOT NULL, -- tool, prompt, resource, template, instructions or host
    name     TEXT    NOT NULL,
    kept_out BOOLEAN NOT NULL, -- somebody has decided so: it waits for nobody any more
    was      BYTEA             -- what was let through under the name before; NULL: nothing
);
CREATE INDEX held_server ON held (server);

INSERT INTO held (server, kind, name, kept_out, was) SELECT server, 'tool', name, kept_out, was FROM tools WHERE held;

ALTER TABLE tools DROP COLUMN hash;
ALTER TABLE tools DROP COLUMN held;
ALTER TABLE tools DROP COLUMN kept_out;
ALTER TABLE tools DROP COLUMN was;
