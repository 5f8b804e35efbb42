package mask_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/project/mask"
)

// sample has what the examples need: rows, a null, a long string, a nested object that is
// a string in another row, and a name with a slash.
const sample = `{"total":2,"next":null,"items":[{"id":1,"name":"a","body":"0123456789","owner":{"login":"x","html_url":"u"},` +
	`"tags":["p","q","r"],"a/b":7},{"id":2,"name":null,"body":"01","owner":"bot","tags":"none"}]}`

func TestApply(t *testing.T) {
	cases := []struct{ name, mask, in, want string }{
		{"null is kept", `items(id,name)`, sample, `{"items":[{"id":1,"name":"a"},{"id":2,"name":null}]}`},
		{"what is no object passes whole", `items(id,owner/login)`, sample,
			`{"items":[{"id":1,"owner":{"login":"x"}},{"id":2,"owner":"bot"}]}`},
		{"order is the source's", `items[:1](id),total`, sample, `{"total":2,"items":[{"id":1}]}`},
		{"the last rows", `items[-1:]/id`, sample, `{"items":[{"id":2}]}`},
		{"a slice is ignored on what is no array", `items(id,tags[:2])`, sample,
			`{"items":[{"id":1,"tags":["p","q"]},{"id":2,"tags":"none"}]}`},
		{"a cap says what is missing", `items(id,body~4)`, sample, `{"items":[{"id":1,"body":"0123…[+6]"},{"id":2,"body":"01"}]}`},
		{"missing is omitted", `missing,total`, sample, `{"total":2}`},
		{"a group is ignored on scalars", `total(x),next(y)`, sample, `{"total":2,"next":null}`},
		{"rows never vanish", `items("a/b")`, sample, `{"items":[{"a/b":7},{}]}`},
		{"only exclusions keep the rest", `!items`, sample, `{"total":2,"next":null}`},
		{"an exclusion inside an include", `a,!a/b`, `{"a":{"b":1,"c":2},"d":3}`, `{"a":{"c":2}}`},
		{"a star and an exclusion", `rows(*,!secret)`, `{"rows":[{"k":1,"secret":2}],"n":3}`, `{"rows":[{"k":1}]}`},
		{"exclusions at any depth", `!**/*_url,!**/node_id`, `{"id":1,"node_id":"x","user":{"login":"u","avatar_url":"v"}}`,
			`{"id":1,"user":{"login":"u"}}`},
		{"a cap holds further down", `*~5`, `{"a":"abcdefg","b":{"c":"hijklmn"},"d":[1]}`,
			`{"a":"abcde…[+2]","b":{"c":"hijkl…[+2]"},"d":[1]}`},
		{"the longer glob wins", `*,log*~3`, `{"a":"abcdefg","log1":"hijklmn"}`, `{"a":"abcdefg","log1":"hij…[+4]"}`},
		{"a mask on the root array", `[:2](id)`, `[{"id":1,"x":0},{"id":2},{"id":3}]`, `[{"id":1},{"id":2}]`},
		{"a slice is of the outer array", `m[:1](v)`, `{"m":[[{"v":1,"w":2},{"v":9}],[{"v":3}]]}`, `{"m":[[{"v":1},{"v":9}]]}`},
		{"signs that need no quotes", `@type,$ref,a.b,x-y`, `{"@type":1,"$ref":2,"a.b":3,"x-y":4,"z":5}`,
			`{"@type":1,"$ref":2,"a.b":3,"x-y":4}`},
		{"a quoted star is a star", `"sp ace","say \"hi\"","*"`, `{"sp ace":3,"say \"hi\"":2,"*":4,"z":5}`,
			`{"sp ace":3,"say \"hi\"":2,"*":4}`},
		{"two shapes, one mask", `EnvList(EnvId),Data/EnvList(EnvId)`, `{"Data":{"EnvList":[{"EnvId":"e","Tags":[]}]}}`,
			`{"Data":{"EnvList":[{"EnvId":"e"}]}}`},
		{"a cap on the root", `~3`, `"abcdef"`, `"abc…[+3]"`},

		{"groups of the same name add up", `a(b),a(c)`, `{"a":{"b":1,"c":2,"d":3}}`, `{"a":{"b":1,"c":2}}`},
		{"the whole beats a group", `a,a(b)`, `{"a":{"b":1,"c":2}}`, `{"a":{"b":1,"c":2}}`},
		{"the whole does not beat an exclusion", `a(!b),a`, `{"a":{"b":1,"c":2}}`, `{"a":{"c":2}}`},
		{"the winner alone decides", `*,owner/login`, `{"x":1,"owner":{"login":"l","id":2}}`, `{"x":1,"owner":{"login":"l"}}`},
		{"an excluded include is excluded", `a,!a`, `{"a":1,"b":2}`, `{}`},
		{"exclusions by glob on the way", `!*/b,!a/c`, `{"a":{"b":1,"c":2,"d":3},"e":{"b":1,"c":2}}`, `{"a":{"d":3},"e":{"c":2}}`},
		{"a deep exclusion in a group holds only there", `a(*,!**/x),b`, `{"a":{"y":{"x":1,"z":2}},"b":{"x":1}}`,
			`{"a":{"y":{"z":2}},"b":{"x":1}}`},
		{"a deep exclusion reaches through arrays", `!**/x`, `[[{"x":1,"y":[{"x":2}]}]]`, `[[{"y":[{}]}]]`},
		{"a nearer cap wins", `*~2,b(c~4)`, `{"a":"12345","b":{"c":"12345","d":1}}`, `{"a":"12…[+3]","b":{"c":"1234…[+1]"}}`},
		{"digits and escapes stay", ` a , b `, "{ \"a\" : 9007199254740993.10e+2 ,\n\"b\":\"\\u00e9\\/\\ud83d\\ude00\", \"c\":0}",
			`{"a":9007199254740993.10e+2,"b":"\u00e9\/\ud83d\ude00"}`},
		{"escaped names are the same names", `a`, `{"\u0061":1,"b":2}`, `{"\u0061":1}`},
		{"double members count each", `a`, `{"a":1,"b":2,"a":3}`, `{"a":1,"a":3}`},
		{"a cap counts an escape as one", `~2`, `"\n\ud83d\ude00x"`, `"\n\ud83d\ude00…[+1]"`},
		{"a cap counts a lone surrogate as one", `~1`, `"\ud83dx"`, `"\ud83d…[+1]"`},
		{"a cap counts characters", `~2`, `"个人版"`, `"个人…[+1]"`},
		{"a cap of nothing", `~0`, `"ab"`, `"…[+2]"`},
		{"from the middle", `[1:3]`, `[0,1,2,3]`, `[1,2]`},
		{"an open end", `[2:]`, `[0,1,2,3]`, `[2,3]`},
		{"more rows than there are", `[-9:]`, `[0,1]`, `[0,1]`},
		{"a slice that ends before it starts", `[3:1]`, `[0,1,2,3]`, `[]`},
		{"the last of the last", `a[-1:]/a[-1:]`, `{"a":[{"a":[1]},{"a":[2,3]}]}`, `{"a":[{"a":[3]}]}`},
		{"Chinese names", `环境(名称)`, `{"环境":[{"名称":"甲","备注":"乙"}]}`, `{"环境":[{"名称":"甲"}]}`},
		{"an empty name", `""`, `{"":1,"a":2}`, `{"":1}`},
		{"white space goes, also inside", `a`, "{\"a\":[ 1 , { \"x\" : \" y \" } ]}", `{"a":[1,{"x":" y "}]}`},
		{"scalars among objects of a root array stay", `id`, `[1,{"id":2,"x":3},"s"]`, `[1,{"id":2},"s"]`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m, err := mask.Parse(c.mask)
			if err != nil {
				t.Fatal(err)
			}
			var tally mask.Tally
			got, err := m.Apply([]byte("before"), []byte(c.in), &tally)
			if err != nil || string(got) != "before"+c.want {
				t.Errorf("%s\ngot  %s %v\nwant %s", c.mask, got, err, c.want)
			}
			if got, err := applyQuoted(m, c.in, &mask.Tally{}); err != nil || got != c.want {
				t.Errorf("%s, quoted\ngot  %s %v\nwant %s", c.mask, got, err, c.want)
			}
		})
	}
}

func TestAnAnswerOfAnotherKindIsNotCut(t *testing.T) {
	for _, c := range []struct{ mask, in string }{
		{`EnvList(EnvId)`, `{"ok":false,"code":"AUTH_REQUIRED"}`},
		{`id`, `[{"error":1},{"error":2}]`},
		{`[:1](id)`, `[{"error":1},{"error":2}]`},
		{`id`, `[[{"error":1}]]`},
	} {
		m, err := mask.Parse(c.mask)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.Apply(nil, []byte(c.in), &mask.Tally{}); !errors.Is(err, mask.ErrMismatch) || len(got) != 0 {
			t.Errorf("%s on %s: %s, %v", c.mask, c.in, got, err)
		}
	}
	for _, in := range []string{`{}`, `[]`, `[1]`, `"text"`, `null`, `[{"id":1},{"error":2}]`} {
		m, _ := mask.Parse("id")
		if _, err := m.Apply(nil, []byte(in), &mask.Tally{}); err != nil {
			t.Errorf("id on %s: %v", in, err)
		}
	}
}

func TestWrongMasksSayWhere(t *testing.T) {
	for src, offset := range map[string]int{
		``: 0, `  `: 2, `a()`: 2, `a,`: 2, `a//b`: 2, `a[1]`: 3, `!a~3`: 2, `!a(b)`: 2, `**/a`: 0, `!**/a/b`: 5, `(a)`: 0, `a b`: 2,
		`a~1,a~2`:     5,
		`a[:1],a[:2]`: 7, `!`: 1, `a(b`: 3, `a)`: 1, `a**`: 1, `!a**b`: 2, `"a`: 0, `"\x"`: 0, `a[`: 2, `a[-]`: 3,
		`a[:99999999999999999999]`: 3,
		"a\x00":                    1, "a\xff": 1, `[:1]a`: 4, `a!b`: 1, `a~`: 2, `,a`: 0, `a/`: 2, `/a`: 0, `!/a`: 1, `[1:2`: 4,
	} {
		m, err := mask.Parse(src)
		var wrong *mask.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%q is accepted as %v (%v)", src, m, err)
		} else if wrong.Offset != offset {
			t.Errorf("%q: %v, want byte %d", src, err, offset)
		}
	}
}

func TestMasksAreBounded(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("a(", n-1) + "a" + strings.Repeat(")", n-1) }
	path := func(n int) string { return strings.Repeat("a/", n-1) + "a" }
	list := func(n int) string { return strings.TrimSuffix(strings.Repeat("a,", n), ",") }
	for name, ok := range map[string]string{"groups": nested(32), "path": path(32), "exclusion": "!" + path(32), "items": list(512),
		"length": strings.Repeat("a", 4096)} {
		if _, err := mask.Parse(ok); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, wrong := range map[string]string{"groups": nested(33), "path": path(33), "exclusion": "!" + path(33), "items": list(513),
		"length": strings.Repeat("a", 4097)} {
		if _, err := mask.Parse(wrong); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestBadValuesAreLeftAlone(t *testing.T) {
	m, err := mask.Parse("a(b)")
	if err != nil {
		t.Fatal(err)
	}
	deep := func(n int) string { return `{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}` }
	if _, err := m.Apply(nil, []byte(deep(mask.MaxDepth)), &mask.Tally{}); err != nil {
		t.Errorf("depth %d: %v", mask.MaxDepth, err)
	}
	for _, in := range []string{
		deep(mask.MaxDepth + 1), `{"x":` + deep(10_000) + `,"a":1}`, ``, `{`, `{"a":NaN}`, `{"a":1}x`, `{"a":1,}`, `{"a" 1}`, `{a:1}`,
		`{"a":{"b":01}}`, "{\"a\":\"\x01\"}",
		`{"a":"\x"}`, `{"a":[1 2]}`, `{"x":[1,],"a":1}`, `{"a":tru}`, `{"a":{"b"}}`, `{"a":"`, `{"a":-}`, `{"a":1.}`, `{"a":1e}`,
		`{"a":"\u12"}`, `{"a":"\`,
	} {
		if got, err := m.Apply([]byte("x"), []byte(in), &mask.Tally{}); err == nil || string(got) != "x" {
			t.Errorf("%.40s: %.40s, %v", in, got, err)
		}
	}
}

func TestFilledLeavesOutWhatIsEmpty(t *testing.T) {
	var tally mask.Tally
	in := `{"a":null,"b":"","c":[ ],"d":{"e":{ },"f":0},"g":[null,{"h":[],"i":false}],"j":" "}`
	got, err := mask.Without(nil, true, 0).Apply(nil, []byte(in), &tally)
	if want := `{"d":{"f":0},"g":[null,{"i":false}],"j":" "}`; err != nil || string(got) != want || len(tally.Fields()) != 5 {
		t.Errorf("got %s, %v; %v", got, err, tally.Fields())
	}
}

func TestTallySaysWhatWasLeftOut(t *testing.T) {
	m, err := mask.Parse("rows[:2](id,text~2),gone")
	if err != nil {
		t.Fatal(err)
	}
	var tally mask.Tally
	in := `{"rows":[{"id":1,"big":"xxxxxxxx","text":"abc","o d":1},{"id":2,"big":"yyyy"},{"id":3},{"id":4}],"n":1}`
	for range 2 { // the second time on a tally that was used
		tally.Reset()
		if _, err := m.Apply(nil, []byte(in), &tally); err != nil {
			t.Fatal(err)
		}
		if tally.Rows != 2 || tally.Cut != 1 || !tally.Left() {
			t.Errorf("rows %d, cut %d", tally.Rows, tally.Cut)
		}
		want := []mask.Field{{Path: "rows/big", Name: "big", Bytes: 28, Count: 2}, {Path: `rows/"o d"`, Name: "o d", Bytes: 7, Count: 1},
			{Path: "n", Name: "n", Bytes: 5, Count: 1}}
		if got := tally.Fields(); len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
			t.Errorf("got %v, want %v", got, want)
		}
		if got := m.Unseen(&tally); len(got) != 1 || got[0] != "gone" {
			t.Errorf("unseen: %v", got)
		}
	}
}

func TestTallyOfManyNamesIsBounded(t *testing.T) {
	m, _ := mask.Parse("id")
	var b strings.Builder
	b.WriteString(`{"id":1`)
	for i := range 10_000 {
		b.WriteString(`,"k` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/500) + `":0`)
	}
	b.WriteString("}")
	var tally mask.Tally
	if _, err := m.Apply(nil, []byte(b.String()), &tally); err != nil {
		t.Fatal(err)
	}
	sum := tally.Others
	for _, f := range tally.Fields() {
		sum += f.Count
	}
	if sum != 10_000 || len(tally.Fields()) > 256 {
		t.Errorf("%d members counted, %d named", sum, len(tally.Fields()))
	}
}

func TestGroupBehindASliceCutsArraysAlone(t *testing.T) {
	m, err := mask.Parse("a[:](b)")
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`{"a":[{"b":1,"c":2}]}`:     `{"a":[{"b":1}]}`,
		`{"a":{"b":1,"c":{"d":2}}}`: `{"a":{"b":1,"c":{"d":2}}}`,
		`{"a":"text"}`:              `{"a":"text"}`,
	} {
		if got, err := m.Apply(nil, []byte(in), &mask.Tally{}); err != nil || string(got) != want {
			t.Errorf("%s gives %s, %v; want %s", in, got, err, want)
		}
	}
	schema := `{"type":"object","properties":{"a":{"type":["object","array"],"properties":{"b":{},"c":{}},"required":["c"],` +
		`"items":{"type":"object","properties":{"b":{},"c":{}},"required":["b","c"]}}}}`
	cut := string(mask.Schema([]byte(schema), mask.Cuts{Masks: []*mask.Mask{m}}))
	if !strings.Contains(cut, `"properties":{"b":{},"c":{}},"required":["c"]`) || strings.Contains(cut, `"required":["b","c"]`) {
		t.Errorf("the schema says %s", cut)
	}
}

func TestPathsAreLeftOutAndCountedOnce(t *testing.T) {
	value := []byte(`{"*":1,"by":{"a b":{"x":1,"y":2},"*":{"x":3,"y":4},"c":[{"x":5}]},"rows":[{"id":1,"in":{"z":1}},{"in":7}]}`)
	var tally mask.Tally
	out, err := mask.Without([][]string{{"by", "*", "x"}, {"rows", "in", "z"}}, false, 0).Apply(nil, value, &tally)
	if want := `{"*":1,"by":{"a b":{"y":2},"*":{"y":4},"c":[{}]},"rows":[{"id":1,"in":{}},{"in":7}]}`; err != nil || string(out) != want {
		t.Errorf("got %s, %v", out, err)
	}
	var paths []string
	for _, f := range tally.Fields() {
		paths = append(paths, fmt.Sprint(f.Path, " ", f.Count))
	}
	if got := strings.Join(paths, ", "); got != "by/*/x 3, rows/in/z 1" {
		t.Errorf("counted %s", got)
	}
	if same, err := mask.Without(nil, false, 0).Apply(nil, value, &tally); err != nil || string(same) != string(value) {
		t.Errorf("without nothing it is %s, %v", same, err)
	}
}

func TestTextsAreCutAndNamesAreNot(t *testing.T) {
	long := strings.Repeat("x", 30)
	for in, want := range map[string]string{
		`"some words of it"`:                    `"some …[+11]"`,
		`"一二三四五六七"`:                             `"一二三四五…[+2]"`,
		`"a\nb\nc\nd"`:                          `"a\nb\nc…[+2]"`,
		`"` + long + `"`:                        `"` + long + `"`,
		`"https:\/\/example.com\/` + long + `"`: `"https:\/\/example.com\/` + long + `"`,
	} {
		if got, err := mask.Without(nil, false, 5).Apply(nil, []byte(in), &mask.Tally{}); err != nil || string(got) != want {
			t.Errorf("%s became %s, %v", in, got, err)
		}
	}
}
