package mask_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/mask"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{`a(b,c[:2]~5),!d`, `!**/x*`, `[-3:]~4(a)`, `"q\"":`, `**`, `a~1,a~2`, `环境/名称`, "a\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		m, err := mask.Parse(src)
		if err != nil {
			var wrong *mask.Error
			if !errors.As(err, &wrong) || wrong.Offset < 0 || wrong.Offset > len(src) {
				t.Fatalf("%q: %v", src, err)
			}
			return
		}
		if m.String() != src {
			t.Fatalf("%q became %q", src, m)
		}
	})
}

func FuzzApply(f *testing.F) {
	for _, m := range []string{`items(id,name)`, `!**/a`, `[:1](a~2)`, `*~3`, `a[-1:]/b,!a/c`} {
		f.Add(m, []byte(sample))
		f.Add(m, []byte(`[{"a":"x\ud83d\ude00é","b":[{"a":1}]},{"a":{"c":null,"a":-0.5e9}}]`))
		f.Add(m, []byte(`{"a":[{"b":1,"c":2},{"b":2}],"a":"中文字"}`))
	}
	f.Fuzz(func(t *testing.T, src string, data []byte) {
		m, err := mask.Parse(src)
		if err != nil {
			return
		}
		var tally mask.Tally
		out, err := m.Apply(nil, data, &tally)
		if errors.Is(err, rawjson.ErrDepth) {
			return
		}
		if valid := err == nil || errors.Is(err, mask.ErrMismatch); valid != json.Valid(data) {
			t.Fatalf("%q: %v, but json.Valid is %v", data, err, !valid)
		}
		if err != nil {
			return
		}
		if !json.Valid(out) {
			t.Fatalf("%s on %q gave %q", src, data, out)
		}
		if !tally.Left() && len(out) > len(data) {
			t.Fatalf("%s on %q grew to %q", src, data, out)
		}
		for _, field := range tally.Fields() {
			if _, err := mask.Parse(field.Path); err != nil {
				t.Fatalf("the path %q is no mask: %v", field.Path, err)
			}
		}
	})
}
