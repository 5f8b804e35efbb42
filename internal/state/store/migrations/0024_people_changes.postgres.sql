-- Other gateways hear who is disabled and enabled, not who was seen.
CREATE TRIGGER changed AFTER UPDATE OF disabled_at ON people FOR EACH ROW EXECUTE FUNCTION toolfit_changed('id');
