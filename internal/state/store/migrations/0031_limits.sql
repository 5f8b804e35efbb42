-- The calls that limits of the policy have counted, over all gateways.
CREATE TABLE limits (
    key   TEXT   PRIMARY KEY, -- which calls are counted together
    same  TEXT   NOT NULL,    -- the call that was repeated; '' where all calls count
    times BYTEA  NOT NULL,    -- of the calls, in nanoseconds, eight bytes each
    until BIGINT NOT NULL     -- nothing counts any more, in nanoseconds
);
