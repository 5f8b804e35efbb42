-- What a server offers beside tools, and the servers that were added while running.

ALTER TABLE servers ADD COLUMN capabilities BYTEA;
ALTER TABLE servers ADD COLUMN instructions TEXT NOT NULL DEFAULT '';

CREATE TABLE offers (
    server     TEXT    NOT NULL REFERENCES servers (id) ON DELETE CASCADE,
    kind       TEXT    NOT NULL, -- prompt, resource or template
    position   INTEGER NOT NULL,
    definition BYTEA   NOT NULL,
    PRIMARY KEY (server, kind, position)
);

-- config is sealed: its first byte says how.
CREATE TABLE server_configs (
    id         TEXT   PRIMARY KEY,
    config     BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
