--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: toolfit_audit_kept(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.toolfit_audit_kept() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.seq < (SELECT first FROM audit_head) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only';
END $$;


--
-- Name: toolfit_changed(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.toolfit_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $_$
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
END $_$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: activity; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.activity (
    step bigint NOT NULL,
    at bigint NOT NULL,
    server text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    calls bigint NOT NULL,
    duration bigint NOT NULL,
    tokens_full bigint NOT NULL,
    tokens_sent bigint NOT NULL,
    under_10 bigint NOT NULL,
    under_20 bigint NOT NULL,
    under_50 bigint NOT NULL,
    under_100 bigint NOT NULL,
    under_200 bigint NOT NULL,
    under_500 bigint NOT NULL,
    under_1000 bigint NOT NULL,
    under_2000 bigint NOT NULL,
    under_5000 bigint NOT NULL,
    under_10000 bigint NOT NULL,
    under_30000 bigint NOT NULL
);


--
-- Name: agents; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.agents (
    id text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    body bytea NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);


--
-- Name: approvals; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.approvals (
    id text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    profile text NOT NULL COLLATE pg_catalog."C",
    server text NOT NULL COLLATE pg_catalog."C",
    tool text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    call text NOT NULL COLLATE pg_catalog."C",
    about bytea NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    standing boolean NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    decided_at bigint DEFAULT 0 NOT NULL,
    decided_by text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    reason text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: audit; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit (
    seq bigint NOT NULL,
    at bigint NOT NULL,
    actor_kind text NOT NULL COLLATE pg_catalog."C",
    actor_id text NOT NULL COLLATE pg_catalog."C",
    actor_name text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    was bytea NOT NULL,
    becomes bytea NOT NULL,
    key_id bytea NOT NULL,
    prev bytea NOT NULL,
    hash bytea NOT NULL
);


--
-- Name: audit_head; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_head (
    id bigint NOT NULL,
    first bigint NOT NULL,
    anchor bytea NOT NULL,
    last bigint NOT NULL,
    hash bytea NOT NULL,
    key_id bytea NOT NULL,
    seal bytea NOT NULL,
    CONSTRAINT audit_head_id_check CHECK ((id = 1))
);


--
-- Name: audit_sinks; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_sinks (
    name text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL,
    lease_by text NOT NULL COLLATE pg_catalog."C",
    lease_until bigint NOT NULL
);


--
-- Name: calls; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.calls (
    id text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    principal text NOT NULL COLLATE pg_catalog."C",
    profile text NOT NULL COLLATE pg_catalog."C",
    session text NOT NULL COLLATE pg_catalog."C",
    agent text NOT NULL COLLATE pg_catalog."C",
    mcp_session text NOT NULL COLLATE pg_catalog."C",
    server text NOT NULL COLLATE pg_catalog."C",
    tool text NOT NULL COLLATE pg_catalog."C",
    upstream text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    code text NOT NULL COLLATE pg_catalog."C",
    message text NOT NULL COLLATE pg_catalog."C",
    level text NOT NULL COLLATE pg_catalog."C",
    duration bigint NOT NULL,
    bytes_in bigint NOT NULL,
    bytes_full bigint NOT NULL,
    bytes_sent bigint NOT NULL,
    repairs text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    rule text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    ref text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    trace text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    tokens_in bigint DEFAULT 0 NOT NULL,
    tokens_full bigint DEFAULT 0 NOT NULL,
    tokens_sent bigint DEFAULT 0 NOT NULL,
    arguments bytea,
    shadow text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    tokens_shadow bigint DEFAULT 0 NOT NULL,
    policy text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    parent text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: connection_logins; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.connection_logins (
    state text NOT NULL COLLATE pg_catalog."C",
    server text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    data bytea NOT NULL,
    expires bigint NOT NULL
);


--
-- Name: connections; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.connections (
    server text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    issuer text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    grant_data bytea NOT NULL,
    expires_at bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL,
    lease_by text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    lease_until bigint DEFAULT 0 NOT NULL
);


--
-- Name: decisions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.decisions (
    server text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    verdict text NOT NULL COLLATE pg_catalog."C",
    decided_by text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL
);


--
-- Name: definitions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.definitions (
    server text NOT NULL COLLATE pg_catalog."C",
    tool text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    definition bytea NOT NULL,
    since bigint NOT NULL,
    until bigint NOT NULL
);


--
-- Name: grant_tokens; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.grant_tokens (
    hash bytea NOT NULL,
    grant_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    expires_at bigint NOT NULL
);


--
-- Name: grants; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.grants (
    id text NOT NULL COLLATE pg_catalog."C",
    person text NOT NULL COLLATE pg_catalog."C",
    client text NOT NULL COLLATE pg_catalog."C",
    redirect text NOT NULL COLLATE pg_catalog."C",
    resource text NOT NULL COLLATE pg_catalog."C",
    scopes text NOT NULL COLLATE pg_catalog."C",
    challenge text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
);


--
-- Name: held; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.held (
    server text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    kept_out boolean NOT NULL,
    was bytea
);


--
-- Name: homes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.homes (
    kind text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    replica text NOT NULL COLLATE pg_catalog."C",
    used bigint DEFAULT 0 NOT NULL,
    data bytea
);


--
-- Name: key_uses; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.key_uses (
    key text NOT NULL COLLATE pg_catalog."C",
    used_at bigint NOT NULL
);


--
-- Name: keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.keys (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    profile text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL COLLATE pg_catalog."C",
    hash bytea NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint DEFAULT 0 NOT NULL,
    old_hash bytea,
    old_until bigint DEFAULT 0 NOT NULL,
    origin text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: limits; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.limits (
    key text NOT NULL COLLATE pg_catalog."C",
    same text NOT NULL COLLATE pg_catalog."C",
    times bytea NOT NULL,
    until bigint NOT NULL
);


--
-- Name: logins; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.logins (
    hash bytea NOT NULL,
    sealed bytea NOT NULL,
    expires_at bigint NOT NULL
);


--
-- Name: messages; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.messages (
    session text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL,
    at bigint NOT NULL,
    body bytea NOT NULL
);


--
-- Name: oauth_clients; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.oauth_clients (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    redirects text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
);


--
-- Name: offers; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.offers (
    server text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    "position" integer NOT NULL,
    definition bytea NOT NULL
);


--
-- Name: own_clients; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.own_clients (
    issuer text NOT NULL COLLATE pg_catalog."C",
    redirect text NOT NULL COLLATE pg_catalog."C",
    data bytea NOT NULL
);


--
-- Name: people; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.people (
    id text NOT NULL COLLATE pg_catalog."C",
    issuer text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    member_of text,
    role text NOT NULL COLLATE pg_catalog."C",
    profile text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    seen_at bigint NOT NULL,
    disabled_at bigint DEFAULT 0 NOT NULL
);


--
-- Name: personal; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.personal (
    owner text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    data bytea NOT NULL,
    expires_at bigint NOT NULL,
    updated_at bigint NOT NULL
);


--
-- Name: rates; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.rates (
    caller text NOT NULL COLLATE pg_catalog."C",
    full_at bigint NOT NULL,
    taken bigint NOT NULL
);


--
-- Name: recipes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.recipes (
    id text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    body bytea NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);


--
-- Name: replicas; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.replicas (
    id text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    seen bigint NOT NULL
);


--
-- Name: results; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.results (
    ref text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    call text NOT NULL COLLATE pg_catalog."C",
    server text NOT NULL COLLATE pg_catalog."C",
    tool text NOT NULL COLLATE pg_catalog."C",
    profile text NOT NULL COLLATE pg_catalog."C",
    session text NOT NULL COLLATE pg_catalog."C",
    rule text NOT NULL COLLATE pg_catalog."C",
    args bytea NOT NULL,
    body bytea NOT NULL,
    size bigint NOT NULL,
    at bigint NOT NULL,
    expires bigint NOT NULL
);


--
-- Name: rules; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.rules (
    id text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    body bytea NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);


--
-- Name: run_pictures; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.run_pictures (
    run text NOT NULL COLLATE pg_catalog."C",
    step bigint NOT NULL,
    type text NOT NULL COLLATE pg_catalog."C",
    data bytea NOT NULL
);


--
-- Name: runs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.runs (
    id text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    duration bigint NOT NULL,
    summary bytea NOT NULL,
    report bytea NOT NULL
);


--
-- Name: savings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.savings (
    span bigint NOT NULL,
    tool text NOT NULL COLLATE pg_catalog."C",
    profile text NOT NULL COLLATE pg_catalog."C",
    rule text NOT NULL COLLATE pg_catalog."C",
    shadow text NOT NULL COLLATE pg_catalog."C",
    calls bigint NOT NULL,
    bytes_in bigint NOT NULL,
    bytes_full bigint NOT NULL,
    bytes_sent bigint NOT NULL,
    tokens_in bigint NOT NULL,
    tokens_full bigint NOT NULL,
    tokens_sent bigint NOT NULL,
    tokens_shadow bigint NOT NULL
);


--
-- Name: schema_version; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.schema_version (
    version integer NOT NULL,
    oldest integer DEFAULT 0 NOT NULL
);


--
-- Name: script_runs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.script_runs (
    id text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    profile text NOT NULL COLLATE pg_catalog."C",
    tool text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    expires bigint NOT NULL,
    version bigint NOT NULL,
    body bytea NOT NULL
);


--
-- Name: server_configs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.server_configs (
    id text NOT NULL COLLATE pg_catalog."C",
    config bytea NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);


--
-- Name: servers; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.servers (
    id text NOT NULL COLLATE pg_catalog."C",
    info bytea,
    listed_at bigint NOT NULL,
    checked_at bigint NOT NULL,
    reason text NOT NULL COLLATE pg_catalog."C",
    capabilities bytea,
    instructions text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    era text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    ttl bigint DEFAULT 0 NOT NULL,
    private_to text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: session_metadata; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.session_metadata (
    session text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    value bytea NOT NULL,
    sought text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: sessions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sessions (
    id text NOT NULL COLLATE pg_catalog."C",
    parent text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL COLLATE pg_catalog."C",
    directory text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    said bigint DEFAULT 0 NOT NULL
);


--
-- Name: sums_end; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sums_end (
    id text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: tool_activity; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tool_activity (
    step bigint NOT NULL,
    at bigint NOT NULL,
    tool text NOT NULL COLLATE pg_catalog."C",
    calls bigint NOT NULL,
    errors bigint NOT NULL,
    duration bigint NOT NULL,
    tokens_full bigint NOT NULL,
    tokens_sent bigint NOT NULL
);


--
-- Name: tools; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tools (
    server text NOT NULL COLLATE pg_catalog."C",
    "position" integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    definition bytea NOT NULL,
    since bigint NOT NULL
);


--
-- Name: uses; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.uses (
    owner text NOT NULL COLLATE pg_catalog."C",
    tool text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    terms bytea NOT NULL
);


--
-- Name: waiting; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.waiting (
    id text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    profile text NOT NULL COLLATE pg_catalog."C",
    server text NOT NULL COLLATE pg_catalog."C",
    tool text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    waits_for text NOT NULL COLLATE pg_catalog."C",
    message text NOT NULL COLLATE pg_catalog."C",
    ref text NOT NULL COLLATE pg_catalog."C",
    attempt bigint NOT NULL,
    again boolean NOT NULL,
    replica text NOT NULL COLLATE pg_catalog."C",
    lease bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    expires bigint NOT NULL,
    version bigint NOT NULL,
    body bytea,
    questions bytea,
    answer bytea
);


--
-- Data for Name: activity; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.activity VALUES (1200000000, 1772539200000000, 'cloud', 'ok', 1, 12345, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
INSERT INTO public.activity VALUES (1200000000, 1772542800000000, 'cloud', 'ok', 1, 12345, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
INSERT INTO public.activity VALUES (7200000000, 1772539200000000, 'cloud', 'ok', 2, 24690, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2);
INSERT INTO public.activity VALUES (28800000000, 1772524800000000, 'cloud', 'ok', 2, 24690, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2);


--
-- Data for Name: agents; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.agents VALUES ('d_1', 1, '\x7b226e616d65223a22e69687227d', 1772625600123456, 1772625600123456);


--
-- Data for Name: approvals; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.approvals VALUES ('a_1', 'ann', 'default', 'shop', 'shop__refund', 'd1', 'call-a_1', '\x01eff0d0aac0eb61e91c32a71ab56038bc6641b9d963871350343ed1ae2b49b8f7a8b78b011d0974e019577f8427feebc5fd360c1afa2ee70a642205d513af3ecae62da2b4d4e7b05b', 'open', true, 1772625600123456, 1772626200123456, 0, '', '');


--
-- Data for Name: audit; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit VALUES (1, 1772625600123456, 'server', 'cloud', '', 'pin.change', 'cloud', '\x7b7d', '\x7b22686f73743a68747470733a2f2f612e6578616d706c65223a2262663137663734356461663632366135303365393331306164396562623363306565393463316262636666636132306630313632366231303662393163656236222c22686f73743a68747470733a2f2f622e6578616d706c65223a2263326536613834656662616566616332366331663765333864373666623061326531653463303065666664343238613763373436656138663065626666633838222c22696e737472756374696f6e733a223a2232316364626161653139633035366365363732633065363866666537666231323862303430353832363431313365383262356237373130656439633764613962222c226f6e65223a2234343133366661333535623336373861313134366164313666376538363439653934666234666332316665373765383331306330363066363163616166663861222c2270726f6d70743a70223a22656136386136313334613063353363376431336665336339383935303537343930376531393761366238333138336635333364346532376439303034333736342068656c64222c22736b696c6c3a223a2234343133366661333535623336373861313134366164313666376538363439653934666234666332316665373765383331306330363066363163616166663861222c22736b696c6c3a733a223a2239653961383663393263316462633965393330643232623961303061396562613363323436306635383536343936346135623830303238656637623337386562222c2274776f223a2234343133366661333535623336373861313134366164313666376538363439653934666234666332316665373765383331306330363066363163616166663861227d', '\xeff0d0aa', '\x', '\xd345c667a38c431347836dc6469a24580a1c5e9797701dd4341fc051a198ea8f');
INSERT INTO public.audit VALUES (2, 1772625600123456, 'server', 'cloud', '', 'pin.change', 'cloud', '\x7b226f6e65223a2234343133366661333535623336373861313134366164313666376538363439653934666234666332316665373765383331306330363066363163616166663861227d', '\x7b226f6e65223a2261336430643031363531323438623836616533386332383466303663306130353566326438623332396533303463306363663538333464643835623230313766227d', '\xeff0d0aa', '\xd345c667a38c431347836dc6469a24580a1c5e9797701dd4341fc051a198ea8f', '\x666bb36c61156e908549d4ef24c13e0025f27e40d49f4602f98fd516cba2e8a7');
INSERT INTO public.audit VALUES (3, 1772625600123456, 'key', 'k_1', '安', 'pin.decide', 'cloud', '\x7b22646566696e6974696f6e223a2268222c226b696e64223a2270726f6d7074222c226e616d65223a2270222c2276657264696374223a6e756c6c7d', '\x7b22646566696e6974696f6e223a2268222c226b696e64223a2270726f6d7074222c226e616d65223a2270222c2276657264696374223a22617070726f766564227d', '\xeff0d0aa', '\x666bb36c61156e908549d4ef24c13e0025f27e40d49f4602f98fd516cba2e8a7', '\x7ae45e2d5f63022807efa27909d40d178830e7f90ffa3f62ee6d3dfe04f410c2');
INSERT INTO public.audit VALUES (4, 1772625600123456, 'key', 'k_1', '安', 'server.save', 'notes', '\x', '\x226e6f742073686f776e22', '\xeff0d0aa', '\x7ae45e2d5f63022807efa27909d40d178830e7f90ffa3f62ee6d3dfe04f410c2', '\x0e36df65f06c49504043d7f506ff672c121d9aa5268963f760377da61bbe5e5b');
INSERT INTO public.audit VALUES (5, 1772625600123456, 'key', 'k_1', '安', 'key.create', '安', '\x', '\x7b226964223a226b5f31222c22726f6c65223a22222c2270726f66696c65223a22222c22736563726574223a226237616537373239e280a6227d', '\xeff0d0aa', '\x0e36df65f06c49504043d7f506ff672c121d9aa5268963f760377da61bbe5e5b', '\x065a1f297db2249e91a65b6719355c898134eb14e94a63d7ec520f1c8515b461');
INSERT INTO public.audit VALUES (6, 1772625600123456, 'user', 'u_1', '安', 'person.create', 'u_1', '\x', '\x7b22697373756572223a2268747470733a2f2f69642e6578616d706c65222c227375626a656374223a2231222c226e616d65223a22e5ae89222c22726f6c65223a2263616c6c6572222c2270726f66696c65223a22227d', '\xeff0d0aa', '\x065a1f297db2249e91a65b6719355c898134eb14e94a63d7ec520f1c8515b461', '\xd4efeb10efd8ecbf847c7845f489dc3c195075b65721fe12ddc6bb1599610e82');
INSERT INTO public.audit VALUES (7, 1772625600123456, 'key', 'k_1', '安', 'agent.save', 'd_1', '\x', '\x7b226e616d65223a22e69687227d', '\xeff0d0aa', '\xd4efeb10efd8ecbf847c7845f489dc3c195075b65721fe12ddc6bb1599610e82', '\x572a3e4ea92db7aa3c699eacc8bff187cad1512c34c4c95b8ac59e2977fdda7e');
INSERT INTO public.audit VALUES (8, 1772625600123456, 'key', 'k_1', '安', 'rule.save', 'd_1', '\x', '\x7b226e616d65223a22e69687227d', '\xeff0d0aa', '\x572a3e4ea92db7aa3c699eacc8bff187cad1512c34c4c95b8ac59e2977fdda7e', '\x6140a8d0ff4eb619dad446772411ebdb95402a2cf147e8f4bf56d970daa86b3b');
INSERT INTO public.audit VALUES (9, 1772625600123456, 'key', 'k_1', '安', 'recipe.save', 'd_1', '\x', '\x7b226e616d65223a22e69687227d', '\xeff0d0aa', '\x6140a8d0ff4eb619dad446772411ebdb95402a2cf147e8f4bf56d970daa86b3b', '\x68297f4788ce8aa84b39b4713cdd28a14bb2bb72a95d5bdfb184a23ce9c3d6c6');
INSERT INTO public.audit VALUES (10, 1772625600123456, 'key', 'k_1', '安', 'connection.save', 'notes', '\x', '\x7b226f776e6572223a22755f31222c227374617465223a227265616479222c22657870697265735f6174223a22323032362d30332d30345431333a30303a30302e3132333435365a227d', '\xeff0d0aa', '\x68297f4788ce8aa84b39b4713cdd28a14bb2bb72a95d5bdfb184a23ce9c3d6c6', '\xc33ec5bacaea857cb1bdbb2b67bcbcb125b52c38923aa62d386e429eb76d225c');
INSERT INTO public.audit VALUES (11, 1772625600123456, 'key', 'k_1', '安', 'value.save', 'jira', '\x', '\x7b226f776e6572223a22616e6e227d', '\xeff0d0aa', '\xc33ec5bacaea857cb1bdbb2b67bcbcb125b52c38923aa62d386e429eb76d225c', '\x778b6cb068200762e4b8095a3dee40821635a1ad800f631b310f495d02159d10');


--
-- Data for Name: audit_head; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit_head VALUES (1, 1, '\x', 11, '\x778b6cb068200762e4b8095a3dee40821635a1ad800f631b310f495d02159d10', '\xeff0d0aa', '\x2fd8fc4eb4bf992096c011ab689a5be7e70b32706b26f79ad1d29df93e4818a0');


--
-- Data for Name: audit_sinks; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit_sinks VALUES ('siem', 1, 'one', 0);


--
-- Data for Name: calls; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.calls VALUES ('c_1jc3nrnzcj00n0de0n0', 1772539200123456, 'k0000001', 'default', 'ses_01hzy3', 'helper', '5f0c7d1e9a', 'cloud', 'cloud__envQuery', 'envQuery', 'ok', '', '', 'info', 12345, 321, 50000, 2000, '', '', '', '', 0, 0, 0, '\x01eff0d0aa6a943f660e1e65d90de390dcb49ba1ebbf7073d8099e7b03654c6eabc8281c7e890fea3416157207f9dbebbe8aedd8d60acc1c284d2c89cbbaa1f06fdadfefbea99b420b145b86208e', '', 0, '', '');
INSERT INTO public.calls VALUES ('c_1jc3s3z6nj00n0de0n0', 1772542800123456, 'k0000002', 'default', '', '', '5f0c7d1e9a', 'cloud', 'cloud__envQuery', 'envQuery', 'ok', '', '', 'info', 12345, 321, 50000, 2000, '', '', '', '', 0, 0, 0, NULL, '', 0, '', '');


--
-- Data for Name: connection_logins; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.connection_logins VALUES ('state', 'notes', 'u_1', '\x01eff0d0aabf73493332c186eed707138ba270e34e58415fe0fcfdae61afe8720bd6', 1772629200123456);


--
-- Data for Name: connections; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.connections VALUES ('notes', 'u_1', '', 'ready', '', '\x01eff0d0aa28f16e4612182eebe8e9f9fa117c4f0ccd6f0e5fe379f665d296697a81822d1e54d8', 1772629200123456, 1772625600123456, 1772625600123456, 1, '', 0);


--
-- Data for Name: decisions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.decisions VALUES ('cloud', 'prompt', 'p', 'h', 'approved', 'k_1', 1772625600123456);


--
-- Data for Name: definitions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.definitions VALUES ('cloud', 'one', '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a', '\x7b7d', 1772625600123456, 1772625600123456);


--
-- Data for Name: grant_tokens; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.grant_tokens VALUES ('\x5694d08a2e53ffcae0c3103e5ad6f6076abd960eb1f8a56577040bc1028f702b', 'g_1', 'code', 1772629200123456);


--
-- Data for Name: grants; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.grants VALUES ('g_1', 'u_1', 'https://a.example', 'http://127.0.0.1/cb', '', '', '', 1772625600123456, 1772629200123456);


--
-- Data for Name: held; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.held VALUES ('cloud', 'prompt', 'p', false, NULL);


--
-- Data for Name: homes; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.homes VALUES ('session', 'h_1', 'one', 1772625600123456, '\x01eff0d0aa080f471d7aa014fb42ca3eb0365ac1ad20e86ec05e82ed858300146a2284367d');


--
-- Data for Name: key_uses; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.key_uses VALUES ('k_1', 1772625600123456);


--
-- Data for Name: keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.keys VALUES ('k_1', '安', '', '', '\x0100ff', 1772625600123456, 0, NULL, 0, '');


--
-- Data for Name: limits; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.limits VALUES ('mails', '', '\x18e94232f4cda080', 1795042313106768000);


--
-- Data for Name: logins; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.logins VALUES ('\x428821350e9691491f616b754cd8315fb86d797ab35d843479e732ef90665324', '\x7365616c6564', 1772629200123456);


--
-- Data for Name: messages; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.messages VALUES ('ses_1', 1, 1772625600123456, '\x7b22726f6c65223a2275736572227d');


--
-- Data for Name: oauth_clients; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.oauth_clients VALUES ('client', '客户', '["http://127.0.0.1"]', 1772625600123456, 1772629200123456);


--
-- Data for Name: offers; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.offers VALUES ('cloud', 'prompt', 0, '\x7b226e616d65223a2270227d');
INSERT INTO public.offers VALUES ('cloud', 'resource', 0, '\x7b22757269223a22723a227d');
INSERT INTO public.offers VALUES ('cloud', 'template', 0, '\x7b2275726954656d706c617465223a22743a227d');
INSERT INTO public.offers VALUES ('cloud', 'skill', 0, '\x7b22757269223a22733a22207d');
INSERT INTO public.offers VALUES ('cloud', 'skill', 1, '\x7b7d');
INSERT INTO public.offers VALUES ('cloud', 'host', 0, '\x2268747470733a2f2f612e6578616d706c6522');
INSERT INTO public.offers VALUES ('cloud', 'host', 1, '\x2268747470733a2f2f622e6578616d706c6522');


--
-- Data for Name: own_clients; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.own_clients VALUES ('https://as.example', 'http://127.0.0.1', '\x01eff0d0aaeff5ea3377ce11c1ae448f64edfb007221df8b91e20cbd051c8b852ae9d559314f34b101f606');


--
-- Data for Name: people; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.people VALUES ('u_1', 'https://id.example', '1', 'user', '安', NULL, 'caller', '', 1772625600123456, 1772625600123456, 0);


--
-- Data for Name: personal; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.personal VALUES ('ann', 'jira', '\x01eff0d0aa1abfbe187f3da1c59552c5ac6a403ffc62e2a641b3f1f9e2cbfd39a013b5f71e1422aa', 0, 1772625600123456);


--
-- Data for Name: rates; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.rates VALUES ('ann', 1795042313103509000, 1);


--
-- Data for Name: recipes; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.recipes VALUES ('d_1', 1, '\x7b226e616d65223a22e69687227d', 1772625600123456, 1772625600123456);


--
-- Data for Name: replicas; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.replicas VALUES ('one', 'http://one', 'v', 1772625600123456);


--
-- Data for Name: results; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.results VALUES ('r_000001', 'k1', 'c_1jc667ke5h80n0de0n0', 'cloud', 'cloud__t1', 'default', 'ses_1', 'env-list', '\x01eff0d0aaa667019196b6556c050efa8d579fbfe1b5bd40423814a438d058c44829b4f8c3a8698ea5c392310d05dc026e25', '\x01eff0d0aa3896a0fd0b541ad674528cd998a782d8aec8681fea9b87723a50739af28a82e1fe91546ed84b1338c1095d44', 99, 1772625600124456, 0);


--
-- Data for Name: rules; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.rules VALUES ('d_1', 1, '\x7b226e616d65223a22e69687227d', 1772625600123456, 1772625600123456);


--
-- Data for Name: run_pictures; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.run_pictures VALUES ('run_1', 1, 'image/png', '\x00ff');


--
-- Data for Name: runs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.runs VALUES ('run_1', 1772625600123456, '登录', 'passed', 0, '\x7b7d', '\x3c703e6f6b');


--
-- Data for Name: savings; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.savings VALUES (1477116, 'cloud__envQuery', 'default', '', '', 1, 321, 50000, 2000, 0, 0, 0, 0);
INSERT INTO public.savings VALUES (1477119, 'cloud__envQuery', 'default', '', '', 1, 321, 50000, 2000, 0, 0, 0, 0);


--
-- Data for Name: schema_version; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.schema_version VALUES (1, 0);


--
-- Data for Name: script_runs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.script_runs VALUES ('c_1', 'ann', 'default', 'run_script', 'd', 'paused', 1772625600123456, 1772629200123456, 1, '\x01eff0d0aa418cc57cc660c52600d7983c076b1db24a8dee08d175855eb136b76567974f61966ae38aedb9bacc62ff567793972c');


--
-- Data for Name: server_configs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.server_configs VALUES ('notes', '\x01eff0d0aaee9f4c688e42cd4c2e2a74ed646d931cafc61d1e98f284c361b3fefc8d425459b4d5e876cd09716c4ce5026c47441845271f6e8d9860c21ffbe93eae0d98d657a3df6c7af00a6c72482082893b13', 1772625600123456, 1772625600123456);


--
-- Data for Name: servers; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.servers VALUES ('cloud', '\x7b226e616d65223a2278227d', 1772625600123456, 1772625600123456, '', '\x7b2270726f6d707473223a7b7d7d', 'Ask first.', '', 0, '');


--
-- Data for Name: session_metadata; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.session_metadata VALUES ('ses_1', 'a', '\x31', '1');


--
-- Data for Name: sessions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sessions VALUES ('ses_1', '', 'ann', '文', '', 1772625600123456, 1772625600123456, 165);


--
-- Data for Name: sums_end; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sums_end VALUES ('c_1jc3s3z6nj00n0de0n0');


--
-- Data for Name: tool_activity; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tool_activity VALUES (1200000000, 1772539200000000, 'cloud__envQuery', 1, 0, 12345, 0, 0);
INSERT INTO public.tool_activity VALUES (1200000000, 1772542800000000, 'cloud__envQuery', 1, 0, 12345, 0, 0);
INSERT INTO public.tool_activity VALUES (7200000000, 1772539200000000, 'cloud__envQuery', 2, 0, 24690, 0, 0);
INSERT INTO public.tool_activity VALUES (28800000000, 1772524800000000, 'cloud__envQuery', 2, 0, 24690, 0, 0);
INSERT INTO public.tool_activity VALUES (86400000000, 1772496000000000, 'cloud__envQuery', 2, 0, 24690, 0, 0);
INSERT INTO public.tool_activity VALUES (604800000000, 1772064000000000, 'cloud__envQuery', 2, 0, 24690, 0, 0);


--
-- Data for Name: tools; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tools VALUES ('cloud', 0, 'one', '\x7b226e6f77223a22e69687227d', 1772625600123456);
INSERT INTO public.tools VALUES ('cloud', 1, 'two', '\x7b7d', 1772625600123456);


--
-- Data for Name: uses; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.uses VALUES ('ann', 'cloud__one', '00064c318f371240GDAL2UB3IPIZ7FDTOIJ5FSRWJF', 1772625600123456, '\x5b22e69687225d');


--
-- Data for Name: waiting; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.waiting VALUES ('c_1jc667ke5h80n0de0n0', 'k1', 'default', 'cloud', 'cloud__deploy', 'working', 'server', 'uploading', '', 1, false, 'one', 1772625660123456, 1772625600124456, 1772625600123456, 1772712000123456, 0, '\x01eff0d0aa50b1ffc49f97e023381881601f98e9921c8e643dc884d0421cd97fdafd4362f6a2f72292c7f9d3', NULL, NULL);


--
-- Name: activity activity_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.activity
    ADD CONSTRAINT activity_pkey PRIMARY KEY (step, at, server, outcome);


--
-- Name: agents agents_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_pkey PRIMARY KEY (id);


--
-- Name: approvals approvals_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.approvals
    ADD CONSTRAINT approvals_pkey PRIMARY KEY (id);


--
-- Name: audit_head audit_head_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_head
    ADD CONSTRAINT audit_head_pkey PRIMARY KEY (id);


--
-- Name: audit audit_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (seq);


--
-- Name: audit_sinks audit_sinks_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_sinks
    ADD CONSTRAINT audit_sinks_pkey PRIMARY KEY (name);


--
-- Name: calls calls_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.calls
    ADD CONSTRAINT calls_pkey PRIMARY KEY (id);


--
-- Name: connection_logins connection_logins_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.connection_logins
    ADD CONSTRAINT connection_logins_pkey PRIMARY KEY (state);


--
-- Name: connections connections_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.connections
    ADD CONSTRAINT connections_pkey PRIMARY KEY (server, owner);


--
-- Name: decisions decisions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.decisions
    ADD CONSTRAINT decisions_pkey PRIMARY KEY (server, kind, name, hash);


--
-- Name: definitions definitions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.definitions
    ADD CONSTRAINT definitions_pkey PRIMARY KEY (server, tool, hash);


--
-- Name: grant_tokens grant_tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.grant_tokens
    ADD CONSTRAINT grant_tokens_pkey PRIMARY KEY (hash);


--
-- Name: grants grants_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grants_pkey PRIMARY KEY (id);


--
-- Name: homes homes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.homes
    ADD CONSTRAINT homes_pkey PRIMARY KEY (kind, key);


--
-- Name: key_uses key_uses_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.key_uses
    ADD CONSTRAINT key_uses_pkey PRIMARY KEY (key);


--
-- Name: keys keys_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_name_key UNIQUE (name);


--
-- Name: keys keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (id);


--
-- Name: limits limits_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.limits
    ADD CONSTRAINT limits_pkey PRIMARY KEY (key);


--
-- Name: logins logins_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.logins
    ADD CONSTRAINT logins_pkey PRIMARY KEY (hash);


--
-- Name: messages messages_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (session, "position");


--
-- Name: oauth_clients oauth_clients_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.oauth_clients
    ADD CONSTRAINT oauth_clients_pkey PRIMARY KEY (id);


--
-- Name: offers offers_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.offers
    ADD CONSTRAINT offers_pkey PRIMARY KEY (server, kind, "position");


--
-- Name: own_clients own_clients_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.own_clients
    ADD CONSTRAINT own_clients_pkey PRIMARY KEY (issuer, redirect);


--
-- Name: people people_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.people
    ADD CONSTRAINT people_pkey PRIMARY KEY (id);


--
-- Name: personal personal_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.personal
    ADD CONSTRAINT personal_pkey PRIMARY KEY (owner, name);


--
-- Name: rates rates_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rates
    ADD CONSTRAINT rates_pkey PRIMARY KEY (caller);


--
-- Name: recipes recipes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.recipes
    ADD CONSTRAINT recipes_pkey PRIMARY KEY (id);


--
-- Name: replicas replicas_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.replicas
    ADD CONSTRAINT replicas_pkey PRIMARY KEY (id);


--
-- Name: results results_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.results
    ADD CONSTRAINT results_pkey PRIMARY KEY (ref, owner);


--
-- Name: rules rules_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rules
    ADD CONSTRAINT rules_pkey PRIMARY KEY (id);


--
-- Name: run_pictures run_pictures_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run_pictures
    ADD CONSTRAINT run_pictures_pkey PRIMARY KEY (run, step);


--
-- Name: runs runs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (id);


--
-- Name: savings savings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.savings
    ADD CONSTRAINT savings_pkey PRIMARY KEY (span, tool, profile, rule, shadow);


--
-- Name: script_runs script_runs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.script_runs
    ADD CONSTRAINT script_runs_pkey PRIMARY KEY (id);


--
-- Name: server_configs server_configs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.server_configs
    ADD CONSTRAINT server_configs_pkey PRIMARY KEY (id);


--
-- Name: servers servers_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.servers
    ADD CONSTRAINT servers_pkey PRIMARY KEY (id);


--
-- Name: session_metadata session_metadata_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.session_metadata
    ADD CONSTRAINT session_metadata_pkey PRIMARY KEY (session, name);


--
-- Name: sessions sessions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);


--
-- Name: tool_activity tool_activity_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tool_activity
    ADD CONSTRAINT tool_activity_pkey PRIMARY KEY (step, at, tool);


--
-- Name: tools tools_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tools
    ADD CONSTRAINT tools_pkey PRIMARY KEY (server, "position");


--
-- Name: uses uses_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.uses
    ADD CONSTRAINT uses_pkey PRIMARY KEY (owner, tool, id);


--
-- Name: waiting waiting_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.waiting
    ADD CONSTRAINT waiting_pkey PRIMARY KEY (id);


--
-- Name: approvals_by_time; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX approvals_by_time ON public.approvals USING btree (created_at, id);


--
-- Name: approvals_open; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX approvals_open ON public.approvals USING btree (expires_at) WHERE (standing AND (state = 'open'::text));


--
-- Name: approvals_standing; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX approvals_standing ON public.approvals USING btree (principal, tool, digest) WHERE standing;


--
-- Name: calls_by_agent; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX calls_by_agent ON public.calls USING btree (agent, id, level) WHERE (agent <> ''::text);


--
-- Name: calls_by_own_agent; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX calls_by_own_agent ON public.calls USING btree (principal, agent, id, level) WHERE (agent <> ''::text);


--
-- Name: calls_by_parent; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX calls_by_parent ON public.calls USING btree (parent, id) WHERE (parent <> ''::text);


--
-- Name: calls_by_policy; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX calls_by_policy ON public.calls USING btree (id, policy) WHERE (policy <> ''::text);


--
-- Name: calls_by_principal; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX calls_by_principal ON public.calls USING btree (principal, id);


--
-- Name: calls_by_rule; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX calls_by_rule ON public.calls USING btree (rule, id) WHERE (rule <> ''::text);


--
-- Name: calls_by_server; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX calls_by_server ON public.calls USING btree (server, id, principal) WHERE (server <> ''::text);


--
-- Name: calls_by_session; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX calls_by_session ON public.calls USING btree (session, id, level, agent, principal) WHERE (session <> ''::text);


--
-- Name: calls_warned_by_agent; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX calls_warned_by_agent ON public.calls USING btree (agent, id, level, principal) WHERE ((level = ANY (ARRAY['warn'::text, 'error'::text])) AND (agent <> ''::text));


--
-- Name: calls_warned_by_principal; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX calls_warned_by_principal ON public.calls USING btree (principal, id, level) WHERE (level = ANY (ARRAY['warn'::text, 'error'::text]));


--
-- Name: calls_with_errors; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX calls_with_errors ON public.calls USING btree (id, principal, agent) WHERE (level = 'error'::text);


--
-- Name: calls_with_warnings; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX calls_with_warnings ON public.calls USING btree (id, principal, agent) WHERE (level = ANY (ARRAY['warn'::text, 'error'::text]));


--
-- Name: connections_by_owner; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX connections_by_owner ON public.connections USING btree (owner);


--
-- Name: grant_tokens_by_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX grant_tokens_by_expiry ON public.grant_tokens USING btree (expires_at);


--
-- Name: grant_tokens_by_grant; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX grant_tokens_by_grant ON public.grant_tokens USING btree (grant_id);


--
-- Name: grants_by_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX grants_by_expiry ON public.grants USING btree (expires_at);


--
-- Name: held_server; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX held_server ON public.held USING btree (server);


--
-- Name: homes_by_replica; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX homes_by_replica ON public.homes USING btree (replica);


--
-- Name: logins_by_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX logins_by_expiry ON public.logins USING btree (expires_at);


--
-- Name: oauth_clients_by_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX oauth_clients_by_expiry ON public.oauth_clients USING btree (expires_at);


--
-- Name: people_disabled; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX people_disabled ON public.people USING btree (id) WHERE (disabled_at <> 0);


--
-- Name: results_by_call; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX results_by_call ON public.results USING btree (call);


--
-- Name: results_by_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX results_by_expiry ON public.results USING btree (expires) WHERE (expires > 0);


--
-- Name: results_by_time; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX results_by_time ON public.results USING btree (at, ref);


--
-- Name: runs_by_time; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX runs_by_time ON public.runs USING btree (at, id);


--
-- Name: savings_by_tool; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX savings_by_tool ON public.savings USING btree (tool, span);


--
-- Name: script_runs_by_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX script_runs_by_expiry ON public.script_runs USING btree (expires);


--
-- Name: script_runs_paused; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX script_runs_paused ON public.script_runs USING btree (owner, tool, digest) WHERE (state = 'paused'::text);


--
-- Name: session_metadata_by_value; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX session_metadata_by_value ON public.session_metadata USING btree (name, sought, session);


--
-- Name: sessions_by_time; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_by_time ON public.sessions USING btree (created_at, id);


--
-- Name: waiting_by_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX waiting_by_expiry ON public.waiting USING btree (expires);


--
-- Name: waiting_by_owner; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX waiting_by_owner ON public.waiting USING btree (owner, created, id);


--
-- Name: waiting_by_time; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX waiting_by_time ON public.waiting USING btree (created, id);


--
-- Name: waiting_open; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX waiting_open ON public.waiting USING btree (replica, owner, expires, state) WHERE (state = ANY (ARRAY['working'::text, 'input_required'::text]));


--
-- Name: agents changed; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER changed AFTER INSERT OR DELETE OR UPDATE ON public.agents FOR EACH ROW EXECUTE FUNCTION public.toolfit_changed('id');


--
-- Name: connections changed; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER changed AFTER INSERT OR DELETE OR UPDATE OF version ON public.connections FOR EACH ROW EXECUTE FUNCTION public.toolfit_changed('server');


--
-- Name: decisions changed; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER changed AFTER INSERT OR DELETE OR UPDATE ON public.decisions FOR EACH ROW EXECUTE FUNCTION public.toolfit_changed('server');


--
-- Name: grants changed; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER changed AFTER DELETE ON public.grants FOR EACH ROW EXECUTE FUNCTION public.toolfit_changed('id');


--
-- Name: keys changed; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER changed AFTER INSERT OR DELETE OR UPDATE ON public.keys FOR EACH ROW EXECUTE FUNCTION public.toolfit_changed('id');


--
-- Name: people changed; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER changed AFTER UPDATE OF disabled_at ON public.people FOR EACH ROW EXECUTE FUNCTION public.toolfit_changed('id');


--
-- Name: personal changed; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER changed AFTER INSERT OR DELETE OR UPDATE ON public.personal FOR EACH ROW EXECUTE FUNCTION public.toolfit_changed('owner');


--
-- Name: recipes changed; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER changed AFTER INSERT OR DELETE OR UPDATE ON public.recipes FOR EACH ROW EXECUTE FUNCTION public.toolfit_changed('id');


--
-- Name: rules changed; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER changed AFTER INSERT OR DELETE OR UPDATE ON public.rules FOR EACH ROW EXECUTE FUNCTION public.toolfit_changed('id');


--
-- Name: server_configs changed; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER changed AFTER INSERT OR DELETE OR UPDATE ON public.server_configs FOR EACH ROW EXECUTE FUNCTION public.toolfit_changed('id');


--
-- Name: servers changed; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER changed AFTER INSERT OR DELETE OR UPDATE OF listed_at ON public.servers FOR EACH ROW EXECUTE FUNCTION public.toolfit_changed('id');


--
-- Name: uses changed; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER changed AFTER INSERT ON public.uses FOR EACH ROW EXECUTE FUNCTION public.toolfit_changed('owner');


--
-- Name: waiting changed; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER changed AFTER UPDATE OF version ON public.waiting FOR EACH ROW WHEN (((old.state <> new.state) OR (old.replica <> new.replica) OR (new.questions IS NOT NULL))) EXECUTE FUNCTION public.toolfit_changed('id');


--
-- Name: audit kept; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER kept BEFORE DELETE OR UPDATE ON public.audit FOR EACH ROW EXECUTE FUNCTION public.toolfit_audit_kept();


--
-- Name: audit kept_whole; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER kept_whole BEFORE TRUNCATE ON public.audit FOR EACH STATEMENT EXECUTE FUNCTION public.toolfit_audit_kept();


--
-- Name: decisions decisions_server_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.decisions
    ADD CONSTRAINT decisions_server_fkey FOREIGN KEY (server) REFERENCES public.servers(id) ON DELETE CASCADE;


--
-- Name: definitions definitions_server_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.definitions
    ADD CONSTRAINT definitions_server_fkey FOREIGN KEY (server) REFERENCES public.servers(id) ON DELETE CASCADE;


--
-- Name: grant_tokens grant_tokens_grant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.grant_tokens
    ADD CONSTRAINT grant_tokens_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES public.grants(id) ON DELETE CASCADE;


--
-- Name: held held_server_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.held
    ADD CONSTRAINT held_server_fkey FOREIGN KEY (server) REFERENCES public.servers(id) ON DELETE CASCADE;


--
-- Name: messages messages_session_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_session_fkey FOREIGN KEY (session) REFERENCES public.sessions(id) ON DELETE CASCADE;


--
-- Name: offers offers_server_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.offers
    ADD CONSTRAINT offers_server_fkey FOREIGN KEY (server) REFERENCES public.servers(id) ON DELETE CASCADE;


--
-- Name: run_pictures run_pictures_run_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run_pictures
    ADD CONSTRAINT run_pictures_run_fkey FOREIGN KEY (run) REFERENCES public.runs(id) ON DELETE CASCADE;


--
-- Name: session_metadata session_metadata_session_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.session_metadata
    ADD CONSTRAINT session_metadata_session_fkey FOREIGN KEY (session) REFERENCES public.sessions(id) ON DELETE CASCADE;


--
-- Name: tools tools_server_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tools
    ADD CONSTRAINT tools_server_fkey FOREIGN KEY (server) REFERENCES public.servers(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


