package rules

import "testing"

func TestASchemasDigestIsOfItsMeaning(t *testing.T) {
	if a, b := digest([]byte(`{"a":1,"b":[2]}`)), digest([]byte(` {"b":[2], "a":1}`)); a != b || a == "" {
		t.Errorf("%q, %q", a, b)
	}
	if digest([]byte(`{"a":1}`)) == digest([]byte(`{"a":2}`)) || digest(nil) != "" {
		t.Error("two schemas have one digest")
	}
}
