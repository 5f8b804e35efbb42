-- What people and the gateway have been granted at the servers behind it.
CREATE TABLE connections (
    server      TEXT   NOT NULL,
    owner       TEXT   NOT NULL, -- the principal; '': the gateway itself
    issuer      TEXT   NOT NULL,
    state       TEXT   NOT NULL, -- ready or needs_login
    reason      TEXT   NOT NULL, -- why it needs a login; '' else
    grant_data  BYTEA  NOT NULL, -- the tokens, and how they are renewed, sealed
    expires_at  BIGINT NOT NULL, -- of the access token; 0: it is not known
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    version     BIGINT NOT NULL, -- each change raises it
    lease_by    TEXT   NOT NULL DEFAULT '', -- who renews it
    lease_until BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (server, owner)
);

CREATE INDEX connections_by_owner ON connections (owner);

-- Sign-ins that have begun. Each is taken once.
CREATE TABLE connection_logins (
    state   TEXT   PRIMARY KEY, -- a hash
    server  TEXT   NOT NULL,
    owner   TEXT   NOT NULL,
    data    BYTEA  NOT NULL, -- sealed
    expires BIGINT NOT NULL
);

-- How authorization servers know us, where they have registered us.
CREATE TABLE own_clients (
    issuer   TEXT   NOT NULL,
    redirect TEXT   NOT NULL,
    data     BYTEA  NOT NULL, -- sealed
    PRIMARY KEY (issuer, redirect)
);
