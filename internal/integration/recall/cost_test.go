package recall

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestWorkGrowsAsTheSpecDoes has specs that invite to go over them again and again. What is
// made anew each time is allocated each time, so that the bytes grow as the work does.
func TestWorkGrowsAsTheSpecDoes(t *testing.T) {
	body := func(schema string) string {
		return `{"request_body":{"content":{"application/json":{"schema":` + schema + `}}},"components":{"schemas":{}}}`
	}
	each := func(n int, format string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(list, ",")
	}
	w := newWorld(t, "recall: {}", nil)
	for name, build := range map[string]func(n int) string{
		"slashes": func(n int) string { return body(`{"$ref":"#/components/schemas/` + strings.Repeat("a/", 10*n) + `"}`) },
		"parts": func(n int) string {
			return body(`{"allOf":[` + each(n, `{"properties":{"p%d":{"type":"string"}}}`) + `]}`)
		},
		"names to require": func(n int) string { return body(`{"properties":{"a":{}},"required":[` + each(4*n, `"a%d"`) + `]}`) },
	} {
		const n, times = 500, 8
		one := layering(t, w.Service, build(n))
		all := layering(t, w.Service, build(n*times))
		if all > 3*times*one {
			t.Errorf("%s: the spec grew %d times, the work from %d to %d", name, times, one, all)
		}
	}
}

func TestPartsOfOnePropertyStandInOneList(t *testing.T) {
	part := func(least int) any { return object{"properties": object{"p": object{"minimum": least}}} }
	in := object{"allOf": []any{part(1), part(2), part(2), part(3)}}
	got, err := json.Marshal(merged(in))
	if want := `{"properties":{"p":{"allOf":[{"minimum":1},{"minimum":2},{"minimum":2},{"minimum":3}]}}}`; err != nil ||
		string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	if got, _ := json.Marshal(in); string(got) != `{"allOf":[{"properties":{"p":{"minimum":1}}},{"properties":{"p":{"minimum":2}}},`+
		`{"properties":{"p":{"minimum":2}}},{"properties":{"p":{"minimum":3}}}]}` {
		t.Errorf("the schema was changed: %s", got)
	}
}

// layering is how many bytes it takes to sort what a spec says into layers.
func layering(t *testing.T, s *Service, in string) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	spec, err := readSpec(raw(in))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.layered("t", spec); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
