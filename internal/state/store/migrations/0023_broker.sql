-- Sign-ins through our own authorization server. Of codes and tokens there are only hashes.
CREATE TABLE grants (
    id         TEXT   PRIMARY KEY, -- in every code and refresh token of the grant, and nowhere else
    person     TEXT   NOT NULL,
    client     TEXT   NOT NULL,
    redirect   TEXT   NOT NULL,
    resource   TEXT   NOT NULL,
    scopes     TEXT   NOT NULL, -- with spaces between them
    challenge  TEXT   NOT NULL, -- which the code's verifier must fit
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX grants_by_expiry ON grants (expires_at);

CREATE TABLE grant_tokens (
    hash       BYTEA  PRIMARY KEY,
    grant_id   TEXT   NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
    kind       TEXT   NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX grant_tokens_by_grant ON grant_tokens (grant_id);
CREATE INDEX grant_tokens_by_expiry ON grant_tokens (expires_at);

-- Sign-ins that have begun. What is known of one only its browser can open.
CREATE TABLE logins (
    hash       BYTEA  PRIMARY KEY,
    sealed     BYTEA  NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX logins_by_expiry ON logins (expires_at);

-- Clients that have registered themselves.
CREATE TABLE oauth_clients (
    id         TEXT   PRIMARY KEY,
    name       TEXT   NOT NULL,
    redirects  TEXT   NOT NULL, -- a JSON list
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX oauth_clients_by_expiry ON oauth_clients (expires_at);
