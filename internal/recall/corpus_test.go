package recall

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestRealSchemasLoseNoReference converts every seventh schema of the corpora, and with
// -v tells what the slowest took.
func TestRealSchemasLoseNoReference(t *testing.T) {
	data := os.Getenv("TOOLFIT_DATA")
	if data == "" {
		t.Skip("TOOLFIT_DATA names no folder with schemas")
	}
	w := newWorld(t, "recall: {}", nil)
	var slowest time.Duration
	converted, refused := 0, 0
	for _, name := range []string{"toucan_mcp_tools.jsonl", "docker_mcp_registry_tools.jsonl", "openapi_ops_dev.jsonl"} {
		f, err := os.Open(filepath.Join(data, "schemas", name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 8<<20)
		for n := 0; lines.Scan(); n++ {
			if n%7 != 0 {
				continue
			}
			var row struct{ InputSchema json.RawMessage }
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				t.Fatal(err)
			}
			from := time.Now()
			out, err := w.convert(name, row.InputSchema)
			slowest = max(slowest, time.Since(from))
			if err != nil {
				refused++
				continue
			}
			converted++
			if hasReference(out) {
				t.Errorf("%s row %d: a reference is left in %.300s", name, n, out)
			}
		}
	}
	t.Logf("%d converted, %d refused, the slowest in %s", converted, refused, slowest)
	if refused*200 > converted {
		t.Errorf("%d of %d refused", refused, converted+refused)
	}
}

// hasReference looks for $ref as a keyword; a property may be called so, and data may hold one.
func hasReference(schema []byte) bool {
	var walk func(v any, names bool) bool
	walk = func(v any, names bool) bool {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				if _, text := value.(string); text && key == "$ref" && !names {
					return true
				}
				if data := key == "enum" || key == "const"; data && !names {
					continue
				}
				if walk(value, (key == "properties" || key == "patternProperties") && !names) {
					return true
				}
			}
		case []any:
			for _, item := range v {
				if walk(item, false) {
					return true
				}
			}
		}
		return false
	}
	var doc any
	d := json.NewDecoder(bytes.NewReader(schema))
	return d.Decode(&doc) == nil && walk(doc, false)
}

func TestAHostileSchemaEndsSoonAndSmall(t *testing.T) {
	w := newWorld(t, "recall: {}", nil)
	defs, all := map[string]any{}, map[string]any{}
	for i := range 60 {
		all[string(rune('一'+i))] = map[string]any{"$ref": "#/$defs/" + string(rune('一'+i))}
	}
	for name := range all {
		defs[name] = map[string]any{"type": "object", "properties": all}
	}
	in, err := json.Marshal(map[string]any{"type": "object", "properties": all, "$defs": defs})
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.convert("hostile", in) // 60³ copies if nobody counted
	if err != nil || len(out) > 3*maxParameters || hasReference(out) {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func BenchmarkHostileSchema(b *testing.B) {
	w := newWorld(b, "recall: {}", nil)
	all := map[string]any{}
	for i := range 60 {
		all[string(rune('a'+i))] = map[string]any{"$ref": "#/$defs/a"}
	}
	in, _ := json.Marshal(map[string]any{"properties": all, "$defs": map[string]any{"a": map[string]any{"properties": all}}})
	for i := 0; b.Loop(); i++ {
		if _, err := w.convert("hostile", append(in[:len(in):len(in)], bytes.Repeat([]byte{' '}, i)...)); err != nil { // each one is new to the cache
			b.Fatal(err)
		}
	}
}
