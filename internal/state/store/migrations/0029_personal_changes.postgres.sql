-- Other gateways hear when somebody has given another value.
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON personal FOR EACH ROW EXECUTE FUNCTION toolfit_changed('owner');
