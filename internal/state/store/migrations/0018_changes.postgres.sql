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
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON agents FOR EACH ROW EXECUTE FUNCTION toolfit_changed('id');
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON decisions FOR EACH ROW EXECUTE FUNCTION toolfit_changed('server');
CREATE TRIGGER changed AFTER INSERT ON uses FOR EACH ROW EXECUTE FUNCTION toolfit_changed('owner');

-- Not of checks: each gateway finds out by itself whether it reaches a server.
CREATE TRIGGER changed AFTER INSERT OR UPDATE OF listed_at OR DELETE ON servers FOR EACH ROW EXECUTE FUNCTION toolfit_changed('id');

-- Not of progress and renewed leases: nobody waits for those.
CREATE TRIGGER changed AFTER UPDATE OF version ON waiting FOR EACH ROW
    WHEN (OLD.state <> NEW.state OR OLD.replica <> NEW.replica OR NEW.questions IS NOT NULL) EXECUTE FUNCTION toolfit_changed('id');
