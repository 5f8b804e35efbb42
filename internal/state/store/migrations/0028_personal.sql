-- What people have given the gateway to use for them alone: values for headers, and the ID token of their sign-in.
CREATE TABLE personal (
    owner      TEXT   NOT NULL, -- the principal
    name       TEXT   NOT NULL,
    data       BYTEA  NOT NULL, -- sealed
    expires_at BIGINT NOT NULL, -- 0: never
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (owner, name)
);
