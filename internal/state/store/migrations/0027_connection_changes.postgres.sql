-- Other gateways hear when somebody has signed in or out, and when a token was renewed; not of leases.
CREATE TRIGGER changed AFTER INSERT OR UPDATE OF version OR DELETE ON connections FOR EACH ROW EXECUTE FUNCTION toolfit_changed('server');
