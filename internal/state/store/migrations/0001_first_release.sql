-- The schema of the first release. Types are those that SQLite and PostgreSQL both take. Times and durations are
-- microseconds, 0 where there is none. BYTEA keeps bytes as they came; one that is sealed says in its first byte how.

-- What servers offer, how they are spoken to, and how long and for whom their lists hold.
CREATE TABLE servers (
    id           TEXT   PRIMARY KEY,
    info         BYTEA,
    listed_at    BIGINT NOT NULL,
    checked_at   BIGINT NOT NULL,
    reason       TEXT   NOT NULL,
    capabilities BYTEA,
    instructions TEXT   NOT NULL DEFAULT '',
    era          TEXT   NOT NULL DEFAULT '', -- legacy or modern; '' where it is not known
    ttl          BIGINT NOT NULL DEFAULT 0, -- microseconds; -1 where the server does not say
    private_to   TEXT   NOT NULL DEFAULT '' -- a digest of the credentials that the lists are for; '' for any
);

CREATE TABLE tools (
    server     TEXT    NOT NULL REFERENCES servers (id) ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    definition BYTEA   NOT NULL,
    since      BIGINT  NOT NULL, -- when it was first listed with this definition
    PRIMARY KEY (server, position)
);

-- What tools were like before. Of each tool and of each server only the last definitions are kept.
CREATE TABLE definitions (
    server     TEXT   NOT NULL REFERENCES servers (id) ON DELETE CASCADE,
    tool       TEXT   NOT NULL,
    hash       TEXT   NOT NULL,
    definition BYTEA  NOT NULL,
    since      BIGINT NOT NULL,
    until      BIGINT NOT NULL, -- when it was listed otherwise, or no more
    PRIMARY KEY (server, tool, hash)
);

CREATE TABLE offers (
    server     TEXT    NOT NULL REFERENCES servers (id) ON DELETE CASCADE,
    kind       TEXT    NOT NULL, -- prompt, resource or template
    position   INTEGER NOT NULL,
    definition BYTEA   NOT NULL,
    PRIMARY KEY (server, kind, position)
);

-- What is held of all that a server offers.
CREATE TABLE held (
    server   TEXT    NOT NULL REFERENCES servers (id) ON DELETE CASCADE,
    kind     TEXT    NOT NULL, -- tool, prompt, resource, template, instructions or host
    name     TEXT    NOT NULL,
    kept_out BOOLEAN NOT NULL, -- somebody has decided so: it waits for nobody any more
    was      BYTEA             -- what was let through under the name before; NULL: nothing
);
CREATE INDEX held_server ON held (server);

-- What people have decided about a server's definitions, each by its hash. Only they change it.
CREATE TABLE decisions (
    server     TEXT   NOT NULL REFERENCES servers (id) ON DELETE CASCADE,
    kind       TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    hash       TEXT   NOT NULL,
    verdict    TEXT   NOT NULL, -- approved or kept_out
    decided_by TEXT   NOT NULL,
    at         BIGINT NOT NULL,
    PRIMARY KEY (server, kind, name, hash)
);

-- The servers that were added while running.
CREATE TABLE server_configs (
    id         TEXT   PRIMARY KEY,
    config     BYTEA  NOT NULL, -- sealed
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- A key may end. When its secret is replaced, the one before works on for a while. A program that does not know several
-- profiles takes "a,b" for the name of one that does not exist, and lets nobody in.
CREATE TABLE keys (
    id         TEXT   PRIMARY KEY,
    name       TEXT   NOT NULL UNIQUE,
    profile    TEXT   NOT NULL,
    role       TEXT   NOT NULL,
    hash       BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL DEFAULT 0, -- 0: never
    old_hash   BYTEA, -- of the secret before; NULL: there was none
    old_until  BIGINT NOT NULL DEFAULT 0, -- when that one ends
    origin     TEXT   NOT NULL DEFAULT '' -- the variable that has its text; '': none
);

-- When each key was last used. This is no column of keys: the gateways hear of every change there.
CREATE TABLE key_uses (
    key     TEXT   PRIMARY KEY,
    used_at BIGINT NOT NULL
);

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

-- Every call writes here, and to two indexes: the id, which sorts by time, and the principal, whose callers read only their own.
CREATE TABLE calls (
    id            TEXT   PRIMARY KEY,
    at            BIGINT NOT NULL,
    principal     TEXT   NOT NULL,
    profile       TEXT   NOT NULL,
    session       TEXT   NOT NULL,
    agent         TEXT   NOT NULL,
    mcp_session   TEXT   NOT NULL,
    server        TEXT   NOT NULL,
    tool          TEXT   NOT NULL,
    upstream      TEXT   NOT NULL,
    outcome       TEXT   NOT NULL,
    code          TEXT   NOT NULL,
    message       TEXT   NOT NULL,
    level         TEXT   NOT NULL,
    duration      BIGINT NOT NULL,
    bytes_in      BIGINT NOT NULL,
    bytes_full    BIGINT NOT NULL,
    bytes_sent    BIGINT NOT NULL,
    repairs       TEXT   NOT NULL DEFAULT '', -- what was repaired: a JSON list, '' where there are none
    rule          TEXT   NOT NULL DEFAULT '', -- that cut the result
    ref           TEXT   NOT NULL DEFAULT '', -- where the whole result is
    trace         TEXT   NOT NULL DEFAULT '',
    tokens_in     BIGINT NOT NULL DEFAULT 0,
    tokens_full   BIGINT NOT NULL DEFAULT 0,
    tokens_sent   BIGINT NOT NULL DEFAULT 0,
    arguments     BYTEA, -- as they were sent and as they were fitted, sealed; NULL where the two are the same, as in most calls
    shadow        TEXT   NOT NULL DEFAULT '', -- the rule in shadow that would have cut the result
    tokens_shadow BIGINT NOT NULL DEFAULT 0, -- that would have been sent then
    policy        TEXT   NOT NULL DEFAULT '', -- its rules that applied
    parent        TEXT   NOT NULL DEFAULT '' -- the script that made it
);

CREATE INDEX calls_by_principal ON calls (principal, id);

-- These hold only the calls that have what they are for, so that a plain call writes to none of them but that by server. Logs
-- are asked for by session, agent, level and caller, in any combination: the columns after the id are there to turn
-- calls away without looking them up.
CREATE INDEX calls_by_session ON calls (session, id, level, agent, principal) WHERE session <> '';
CREATE INDEX calls_by_agent ON calls (agent, id, level) WHERE agent <> '';
CREATE INDEX calls_by_own_agent ON calls (principal, agent, id, level) WHERE agent <> '';
CREATE INDEX calls_by_rule ON calls (rule, id) WHERE rule <> '';
CREATE INDEX calls_by_server ON calls (server, id, principal) WHERE server <> '';
CREATE INDEX calls_by_policy ON calls (id, policy) WHERE policy <> '';
CREATE INDEX calls_by_parent ON calls (parent, id) WHERE parent <> '';

-- Few calls are warnings or errors, so these cost little. An agent or a caller may have many
-- calls and none of these.
CREATE INDEX calls_with_warnings ON calls (id, principal, agent) WHERE level IN ('warn', 'error');
CREATE INDEX calls_with_errors ON calls (id, principal, agent) WHERE level = 'error';
CREATE INDEX calls_warned_by_agent ON calls (agent, id, level, principal) WHERE level IN ('warn', 'error') AND agent <> '';
CREATE INDEX calls_warned_by_principal ON calls (principal, id, level) WHERE level IN ('warn', 'error');

-- What calls cost, summed by spans of 20 minutes, so that a report need not read every call. The sums are of the calls
-- up to the id in sums_end. Whoever changes them changes its row first, so that only one does at a time.
CREATE TABLE savings (
    span          BIGINT NOT NULL,
    tool          TEXT   NOT NULL,
    profile       TEXT   NOT NULL,
    rule          TEXT   NOT NULL,
    shadow        TEXT   NOT NULL,
    calls         BIGINT NOT NULL,
    bytes_in      BIGINT NOT NULL,
    bytes_full    BIGINT NOT NULL,
    bytes_sent    BIGINT NOT NULL,
    tokens_in     BIGINT NOT NULL,
    tokens_full   BIGINT NOT NULL,
    tokens_sent   BIGINT NOT NULL,
    tokens_shadow BIGINT NOT NULL,
    PRIMARY KEY (span, tool, profile, rule, shadow)
);

-- When a tool was called: calls have no index by tool, which each of them would have to write to.
CREATE INDEX savings_by_tool ON savings (tool, span);

CREATE TABLE sums_end (id TEXT NOT NULL);
INSERT INTO sums_end (id) VALUES ('');

-- How busy the gateway was, in spans of several lengths: a long time is read in long spans. These outlive the calls that they
-- count, as long as records are kept.
CREATE TABLE activity (
    step         BIGINT NOT NULL, -- how long the span is, in microseconds
    at           BIGINT NOT NULL, -- when it began
    server       TEXT   NOT NULL,
    outcome      TEXT   NOT NULL,
    calls        BIGINT NOT NULL,
    duration     BIGINT NOT NULL,
    tokens_full  BIGINT NOT NULL,
    tokens_sent  BIGINT NOT NULL,
    -- How many calls took less than so many milliseconds.
    under_10     BIGINT NOT NULL,
    under_20     BIGINT NOT NULL,
    under_50     BIGINT NOT NULL,
    under_100    BIGINT NOT NULL,
    under_200    BIGINT NOT NULL,
    under_500    BIGINT NOT NULL,
    under_1000   BIGINT NOT NULL,
    under_2000   BIGINT NOT NULL,
    under_5000   BIGINT NOT NULL,
    under_10000  BIGINT NOT NULL,
    under_30000  BIGINT NOT NULL,
    PRIMARY KEY (step, at, server, outcome)
);

-- The same by tool.
CREATE TABLE tool_activity (
    step        BIGINT NOT NULL,
    at          BIGINT NOT NULL,
    tool        TEXT   NOT NULL,
    calls       BIGINT NOT NULL,
    errors      BIGINT NOT NULL,
    duration    BIGINT NOT NULL,
    tokens_full BIGINT NOT NULL,
    tokens_sent BIGINT NOT NULL,
    PRIMARY KEY (step, at, tool)
);

-- Whole results, for stores that several gateways share. A SQLite store keeps them in
-- files beside it, and this table stays empty.
CREATE TABLE results (
    ref     TEXT   NOT NULL,
    owner   TEXT   NOT NULL,
    call    TEXT   NOT NULL,
    server  TEXT   NOT NULL,
    tool    TEXT   NOT NULL,
    profile TEXT   NOT NULL,
    session TEXT   NOT NULL,
    rule    TEXT   NOT NULL,
    args    BYTEA  NOT NULL, -- sealed, as is the body: the first byte says how
    body    BYTEA  NOT NULL,
    size    BIGINT NOT NULL, -- of both
    at      BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    PRIMARY KEY (ref, owner)
);

CREATE INDEX results_by_time ON results (at, ref);
CREATE INDEX results_by_call ON results (call);
CREATE INDEX results_by_expiry ON results (expires) WHERE expires > 0;

-- Calls that outlive their request. The long columns are last: SQLite leaves their pages
-- alone when a column before them changes and keeps its size.
CREATE TABLE waiting (
    id        TEXT    PRIMARY KEY, -- that of the call's record
    owner     TEXT    NOT NULL,
    profile   TEXT    NOT NULL,
    server    TEXT    NOT NULL,
    tool      TEXT    NOT NULL,
    state     TEXT    NOT NULL, -- working or input_required; once it has ended, completed, failed or cancelled for good
    waits_for TEXT    NOT NULL,
    message   TEXT    NOT NULL,
    ref       TEXT    NOT NULL,
    attempt   BIGINT  NOT NULL,
    again     BOOLEAN NOT NULL,
    replica   TEXT    NOT NULL,
    lease     BIGINT  NOT NULL, -- in no index, so that renewing it touches none
    created   BIGINT  NOT NULL,
    updated   BIGINT  NOT NULL,
    expires   BIGINT  NOT NULL,
    version   BIGINT  NOT NULL,
    body      BYTEA, -- sealed, as are the next: the first byte says how
    questions BYTEA,
    answer    BYTEA
);

-- Few of many; with all that counting them reads.
CREATE INDEX waiting_open ON waiting (replica, owner, expires, state) WHERE state IN ('working', 'input_required');
CREATE INDEX waiting_by_owner ON waiting (owner, created, id);
CREATE INDEX waiting_by_time ON waiting (created, id);
CREATE INDEX waiting_by_expiry ON waiting (expires);

-- Scripts that were run, and which calls they made.
CREATE TABLE script_runs (
    id      TEXT   PRIMARY KEY, -- of the record of the call that began it
    owner   TEXT   NOT NULL,
    profile TEXT   NOT NULL,
    tool    TEXT   NOT NULL, -- run_script, or a recipe
    digest  TEXT   NOT NULL, -- of what was asked
    state   TEXT   NOT NULL, -- running, paused or ended
    at      BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    version BIGINT NOT NULL, -- counts how often it was saved
    body    BYTEA  NOT NULL  -- the script and what it has called, sealed
);
CREATE INDEX script_runs_paused ON script_runs (owner, tool, digest) WHERE state = 'paused';
CREATE INDEX script_runs_by_expiry ON script_runs (expires);

-- What people are asked before a call is made, and what they have decided.
CREATE TABLE approvals (
    id         TEXT    PRIMARY KEY,
    principal  TEXT    NOT NULL, -- who makes the call
    profile    TEXT    NOT NULL,
    server     TEXT    NOT NULL,
    tool       TEXT    NOT NULL,
    digest     TEXT    NOT NULL, -- of the arguments and of the rules that ask
    call       TEXT    NOT NULL, -- the record of the call that asked first
    about      BYTEA   NOT NULL, -- who asks, the arguments and the rules, sealed
    state      TEXT    NOT NULL, -- open, approved, denied, used or canceled
    standing   BOOLEAN NOT NULL, -- it counts for the next such call; not once it is used, canceled or replaced
    created_at BIGINT  NOT NULL,
    expires_at BIGINT  NOT NULL,
    decided_at BIGINT  NOT NULL DEFAULT 0,
    decided_by TEXT    NOT NULL DEFAULT '',
    reason     TEXT    NOT NULL DEFAULT ''
);

-- Two gateways that are asked the same at once ask one question.
CREATE UNIQUE INDEX approvals_standing ON approvals (principal, tool, digest) WHERE standing;
CREATE INDEX approvals_by_time ON approvals (created_at, id);
CREATE INDEX approvals_open ON approvals (expires_at) WHERE standing AND state = 'open'; -- every page of the console counts them

CREATE TABLE sessions (
    id         TEXT   PRIMARY KEY,
    parent     TEXT   NOT NULL,
    owner      TEXT   NOT NULL,
    title      TEXT   NOT NULL,
    directory  TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    said       BIGINT NOT NULL DEFAULT 0 -- bytes of its messages
);

CREATE INDEX sessions_by_time ON sessions (created_at, id);

-- One row for each name, so that two who change different names do not meet.
CREATE TABLE session_metadata (
    session TEXT  NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    name    TEXT  NOT NULL,
    value   BYTEA NOT NULL, -- JSON, byte for byte as it came
    sought  TEXT  NOT NULL, -- the value as filters look for it
    PRIMARY KEY (session, name)
);

CREATE INDEX session_metadata_by_value ON session_metadata (name, sought, session);

CREATE TABLE messages (
    session  TEXT   NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    body     BYTEA  NOT NULL,
    PRIMARY KEY (session, position)
);

-- What people write and others change at the same time: each has a version.
CREATE TABLE agents (
    id         TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL,
    body       BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE rules (
    id         TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL,
    body       BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- Scripts that people saved as tools.
CREATE TABLE recipes (
    id         TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL,
    body       BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- By which words a tool was found that was then called. The ids sort by time.
CREATE TABLE uses (
    owner TEXT   NOT NULL,
    tool  TEXT   NOT NULL,
    id    TEXT   NOT NULL,
    at    BIGINT NOT NULL,
    terms BYTEA  NOT NULL,
    PRIMARY KEY (owner, tool, id)
);

-- Runs of browser tests.
CREATE TABLE runs (
    id       TEXT   PRIMARY KEY,
    at       BIGINT NOT NULL,
    name     TEXT   NOT NULL,
    outcome  TEXT   NOT NULL,
    duration BIGINT NOT NULL,
    summary  BYTEA  NOT NULL,
    report   BYTEA  NOT NULL
);

CREATE INDEX runs_by_time ON runs (at, id);

-- Pictures of a run, apart from its report: who reads the one does not read the other.
CREATE TABLE run_pictures (
    run  TEXT   NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    step BIGINT NOT NULL,
    type TEXT   NOT NULL,
    data BYTEA  NOT NULL,
    PRIMARY KEY (run, step)
);

-- The gateways that share the store.
CREATE TABLE replicas (
    id      TEXT   PRIMARY KEY,
    url     TEXT   NOT NULL, -- where the others reach it
    version TEXT   NOT NULL,
    seen    BIGINT NOT NULL -- in no index, so that a heartbeat touches none
);

-- Which of them holds what only one process can hold. What is stored of a home outlives its replica: another goes on with
-- it. So a home refers to its replica by name only.
CREATE TABLE homes (
    kind    TEXT   NOT NULL,
    key     TEXT   NOT NULL,
    replica TEXT   NOT NULL, -- may have gone
    used    BIGINT NOT NULL DEFAULT 0, -- when it was claimed last
    data    BYTEA, -- sealed: the first byte says how; NULL: nothing is stored of it
    PRIMARY KEY (kind, key)
);

CREATE INDEX homes_by_replica ON homes (replica);

-- How much of its rate each caller has used up, over all gateways.
CREATE TABLE rates (
    caller  TEXT   PRIMARY KEY,
    full_at BIGINT NOT NULL, -- when all tokens are back, in nanoseconds
    taken   BIGINT NOT NULL  -- how many were taken last
);

-- The calls that limits of the policy have counted, over all gateways.
CREATE TABLE limits (
    key   TEXT   PRIMARY KEY, -- which calls are counted together
    same  TEXT   NOT NULL,    -- the call that was repeated; '' where all calls count
    times BYTEA  NOT NULL,    -- of the calls, in nanoseconds, eight bytes each
    until BIGINT NOT NULL     -- nothing counts any more, in nanoseconds
);

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

-- What people have given the gateway to use for them alone: values for headers, and the ID token of their sign-in.
CREATE TABLE personal (
    owner      TEXT   NOT NULL, -- the principal
    name       TEXT   NOT NULL,
    data       BYTEA  NOT NULL, -- sealed
    expires_at BIGINT NOT NULL, -- 0: never
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (owner, name)
);

-- Who changed what. Rows are only added; the oldest are deleted once they are old enough.
CREATE TABLE audit (
    seq        BIGINT PRIMARY KEY, -- from 1, without gaps
    at         BIGINT NOT NULL,
    actor_kind TEXT   NOT NULL,
    actor_id   TEXT   NOT NULL,
    actor_name TEXT   NOT NULL,
    action     TEXT   NOT NULL,
    subject    TEXT   NOT NULL,
    was        BYTEA  NOT NULL, -- JSON; empty: there was nothing
    becomes    BYTEA  NOT NULL, -- JSON; empty: there is nothing any more
    key_id     BYTEA  NOT NULL, -- of the key that made the hash; empty: none
    prev       BYTEA  NOT NULL, -- the hash of the row before
    hash       BYTEA  NOT NULL
);

-- Where the log begins and ends: whoever deletes rows at either end has to change this row, too.
CREATE TABLE audit_head (
    id     BIGINT PRIMARY KEY CHECK (id = 1),
    first  BIGINT NOT NULL, -- the oldest row that is kept
    anchor BYTEA  NOT NULL, -- the hash of the row before that
    last   BIGINT NOT NULL,
    hash   BYTEA  NOT NULL, -- of the last row
    key_id BYTEA  NOT NULL,
    seal   BYTEA  NOT NULL  -- the hash of all that
);

INSERT INTO audit_head (id, first, anchor, last, hash, key_id, seal) VALUES (1, 1, '', 0, '', '', '');

-- How far each sink has got.
CREATE TABLE audit_sinks (
    name        TEXT   PRIMARY KEY,
    position    BIGINT NOT NULL, -- the last row that it has acknowledged
    lease_by    TEXT   NOT NULL, -- the gateway that sends
    lease_until BIGINT NOT NULL
);

-- Rows of the audit log stay as they are until its head says that it begins later.
-- only: postgres
CREATE FUNCTION toolfit_audit_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.seq < (SELECT first FROM audit_head) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only';
END $$;

CREATE TRIGGER kept BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION toolfit_audit_kept();
CREATE TRIGGER kept_whole BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION toolfit_audit_kept();

-- Gateways that share the store hear which rows the others change. A key that is too long for that is left out.
-- The channel has a hash of the schema in its name: a database may have several stores. (Not md5, which some refuse.)
CREATE FUNCTION toolfit_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    key text;
BEGIN
    IF TG_OP = 'DELETE' THEN
        EXECUTE format('SELECT ($1).%I', TG_ARGV[0]) INTO key USING OLD;
    ELSE
        EXECUTE format('SELECT ($1).%I', TG_ARGV[0]) INTO key USING NEW;
    END IF;
    PERFORM pg_notify('toolfit_' || (hashtext(TG_TABLE_SCHEMA)::bigint + 2147483648),
        TG_TABLE_NAME || ' ' || CASE WHEN octet_length(key) <= 200 THEN key ELSE '' END);
    RETURN NULL;
END $$;

CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON server_configs FOR EACH ROW EXECUTE FUNCTION toolfit_changed('id');
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON keys FOR EACH ROW EXECUTE FUNCTION toolfit_changed('id');
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON rules FOR EACH ROW EXECUTE FUNCTION toolfit_changed('id');
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON recipes FOR EACH ROW EXECUTE FUNCTION toolfit_changed('id');
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON agents FOR EACH ROW EXECUTE FUNCTION toolfit_changed('id');
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON decisions FOR EACH ROW EXECUTE FUNCTION toolfit_changed('server');
CREATE TRIGGER changed AFTER INSERT ON uses FOR EACH ROW EXECUTE FUNCTION toolfit_changed('owner');

-- Not of checks: each gateway finds out by itself whether it reaches a server.
CREATE TRIGGER changed AFTER INSERT OR UPDATE OF listed_at OR DELETE ON servers FOR EACH ROW EXECUTE FUNCTION toolfit_changed('id');

-- Not of progress and renewed leases: nobody waits for those.
CREATE TRIGGER changed AFTER UPDATE OF version ON waiting FOR EACH ROW
    WHEN (OLD.state <> NEW.state OR OLD.replica <> NEW.replica OR NEW.questions IS NOT NULL) EXECUTE FUNCTION toolfit_changed('id');

-- Other gateways hear who is disabled and enabled, not who was seen.
CREATE TRIGGER changed AFTER UPDATE OF disabled_at ON people FOR EACH ROW EXECUTE FUNCTION toolfit_changed('id');

-- Other gateways hear which grants have ended.
CREATE TRIGGER changed AFTER DELETE ON grants FOR EACH ROW EXECUTE FUNCTION toolfit_changed('id');

-- Other gateways hear when somebody has signed in or out, and when a token was renewed; not of leases.
CREATE TRIGGER changed AFTER INSERT OR UPDATE OF version OR DELETE ON connections FOR EACH ROW EXECUTE FUNCTION toolfit_changed('server');

-- Other gateways hear when somebody has given another value.
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON personal FOR EACH ROW EXECUTE FUNCTION toolfit_changed('owner');

-- only: sqlite
CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;

CREATE TRIGGER audit_kept BEFORE DELETE ON audit WHEN OLD.seq >= (SELECT first FROM audit_head) BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
