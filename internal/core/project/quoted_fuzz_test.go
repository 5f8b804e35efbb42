package project_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/mask"
)

// FuzzTextIsCutTheSameWhereverItIsRead holds that a text which is cut inside its string gives
// the answer that the same text gives when its first bracket is an escape: then it is read,
// cut and written again.
func FuzzTextIsCutTheSameWhereverItIsRead(f *testing.F) {
	for _, m := range []string{`items(id,name)`, `!**/a`, `[:1](a~2)`, `*~3`, `a[-1:]/b,!a/c`, `x`} {
		f.Add(m, `{"a":[{"b":1,"c":""},{"b":{ }}],"x":"<é😀\"/","_omitted":null}`, 0, false)
		f.Add(m, `[{"a":"中文字","b":"\ud800"},{"b":1,"_omitte\u0064":2}]`, 20, true)
		f.Add(m, `{}`, 1, false)
	}
	f.Fuzz(func(t *testing.T, src, value string, budget int, filled bool) {
		m, err := mask.Parse(src)
		value = strings.TrimSpace(value)
		if err != nil || !utf8.ValidString(value) || !json.Valid([]byte(value)) || len(value) > 4000 || value[0] != '{' && value[0] != '[' {
			return // of longer ones the tokens are estimates, and differ
		}
		how := project.How{Mask: m, Budget: max(0, budget), Filled: filled}
		literal, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		bracket := map[byte]string{'{': `"\u007b`, '[': `"\u005b`}[value[0]]
		inside := project.Plan(t.Context(), []byte(`{"content":[{"type":"text","text":`+string(literal)+`}]}`), how)
		read := project.Plan(t.Context(), []byte(`{"content":[{"type":"text","text":`+bracket+string(literal[2:])+`}]}`), how)
		if inside.Outcome != read.Outcome || inside.Leaves() != read.Leaves() || !slices.Equal(inside.Unseen, read.Unseen) {
			t.Fatalf("%s on %s: %+v, want %+v", src, value, inside, read)
		}
		if got, want := decode(t, inside.Apply("r_1")), decode(t, read.Apply("r_1")); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s on %s gave\n%v\nwant\n%v", src, value, got, want)
		}
	})
}
