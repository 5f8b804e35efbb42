-- Everybody who has come in with the token of an identity provider, or signed in there.
CREATE TABLE people (
    id          TEXT   PRIMARY KEY, -- a hash of issuer and subject
    issuer      TEXT   NOT NULL,
    subject     TEXT   NOT NULL,
    kind        TEXT   NOT NULL, -- user or service
    name        TEXT   NOT NULL,
    member_of   TEXT,            -- the groups at the last sign-in on a page, as JSON; NULL: there was none
    role        TEXT   NOT NULL, -- as last seen, like the profile
    profile     TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    seen_at     BIGINT NOT NULL,
    disabled_at BIGINT NOT NULL DEFAULT 0 -- 0: may come in
);

CREATE INDEX people_disabled ON people (id) WHERE disabled_at <> 0;
