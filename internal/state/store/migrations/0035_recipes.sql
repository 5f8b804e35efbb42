-- Scripts that people saved as tools.
CREATE TABLE recipes (
    id         TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL,
    body       BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- only: postgres
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON recipes FOR EACH ROW EXECUTE FUNCTION toolfit_changed('id');
