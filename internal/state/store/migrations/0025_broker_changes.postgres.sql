-- Other gateways hear which grants have ended.
CREATE TRIGGER changed AFTER DELETE ON grants FOR EACH ROW EXECUTE FUNCTION toolfit_changed('id');
