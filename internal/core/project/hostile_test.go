package project_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/project"
)

// planned is how many bytes it takes to cut a result.
func planned(t *testing.T, raw string, how project.How) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := project.Plan(t.Context(), []byte(raw), how)
	out := c.Apply("r_1")
	runtime.ReadMemStats(&after)
	if len(out) > 3*len(raw) { // each block may have a note
		t.Errorf("%d bytes become %d", len(raw), len(out))
	}
	return after.TotalAlloc - before.TotalAlloc
}

// What a result costs to cut grows as the result does, whatever it is made of.
func TestMemoryGrowsAsTheResultDoes(t *testing.T) {
	block := func(text string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, text) }
	for name, build := range map[string]func(n int) string{
		"blocks of which something is cut": func(n int) string {
			return `{"content":[` + strings.Repeat(block(`{"id":1,"x":2}`)+",", n) + block("{}") + `]}`
		},
		"blocks of which all is kept": func(n int) string {
			return `{"content":[` + strings.Repeat(block(`{"id":1}`)+",", n) + block("{}") + `]}`
		},
		"blocks that are no JSON": func(n int) string {
			return `{"content":[` + strings.Repeat(block(`{prose}`)+",", n) + block("{}") + `]}`
		},
	} {
		const n, times = 500, 8
		planned(t, build(n), project.How{Mask: parse(t, "id")}) // fills the pools
		one := planned(t, build(n), project.How{Mask: parse(t, "id")})
		all := planned(t, build(n*times), project.How{Mask: parse(t, "id")})
		if all > 3*times*one {
			t.Errorf("%s: the result grew %d times, the memory from %d to %d", name, times, one, all)
		}
	}
}

func TestNamesWithoutEndDoNotGrowTheAnswer(t *testing.T) {
	var fields strings.Builder
	for i := range 300 {
		fields.WriteString(`,"` + strings.Repeat("y", 1+i) + `":1`)
	}
	raw := `{"content":[],"structuredContent":{"a":{"` + strings.Repeat("x", 100_000) + `":{"id":1` + fields.String() + `}}}}`
	planned(t, raw, project.How{Mask: parse(t, "a/*/id")})
}
