package openapi_test

import (
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/openapi"
)

// enumOf reads a value as YAML in the place of an enum's only value.
func enumOf(t *testing.T, value string) string {
	t.Helper()
	op := one(t, operation("3.1.0", "/a", "get", "      parameters:\n      - name: q\n        in: query\n        schema:\n          enum:\n          - "+value+"\n"), nil)
	raw := string(get(op.Definition, "inputSchema", "properties", "q", "enum"))
	return strings.TrimSuffix(strings.TrimPrefix(raw, "["), "]")
}

func TestScalarsAreReadByTheCoreSchemaOfYAML12(t *testing.T) {
	for in, want := range map[string]string{
		"2020-01-01": `"2020-01-01"`, "2020-01-01T00:00:00Z": `"2020-01-01T00:00:00Z"`, "yes": `"yes"`, "No": `"No"`, "on": `"on"`, "y": `"y"`,
		"true": "true", "FALSE": "false", "'true'": `"true"`, "~": "null", "Null": "null", "''": `""`, "nan": `"nan"`,
		"7": "7", "+7": "7", "-7": "-7", "9007199254740993": "9007199254740993", "1.10": "1.10", "1.": "1.0", ".5": "0.5", "-.5": "-0.5", "1e3": "1e3", "1E-3": "1E-3",
		"007": `"007"`, "1_000": `"1_000"`, "0x1F": "31", "0o17": "15", "0x": `"0x"`, ".inf": `".inf"`, ".nan": `".nan"`, "-": "null", "+": `"+"`, ".": `"."`, "1e": `"1e"`,
		"12:30:45": `"12:30:45"`, "1.2.3": `"1.2.3"`, "!!str 7": `"7"`, "!!int 7": "7", "!!float 7": "7", "!!binary aGk=": `"aGk="`, `"a\u00e9\n"`: `"aé\n"`, "漢字": `"漢字"`,
	} {
		if in == "-" {
			continue // an empty list item: no scalar
		}
		if got := enumOf(t, in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestYAMLAndJSONGiveTheSameTools(t *testing.T) {
	raw := generate(12, 8)
	want, _ := read(t, string(raw), nil)
	got, problems := read(t, string(asYAML(raw)), nil)
	if len(got) != len(want) || len(problems) > 0 {
		t.Fatalf("%d and %d operations, %v", len(got), len(want), problems)
	}
	for i := range want {
		if string(got[i].Definition) != string(want[i].Definition) {
			t.Errorf("got  %s\nwant %s", got[i].Definition, want[i].Definition)
		}
	}
}

func TestAliasesAndMergesAreWrittenOut(t *testing.T) {
	op := one(t, "openapi: 3.0.0\ninfo: {title: t, version: '1'}\nx-text: &text {type: string, maxLength: 5}\nx-more: &more {<<: *text, minLength: 1}\npaths:\n  /a:\n    get:\n      parameters:\n"+
		"      - {name: p, in: query, schema: *text}\n      - {name: q, in: query, schema: {<<: [*more, {maxLength: 7}], maxLength: 9}}\n", nil)
	want := `{"p":{"type":"string","maxLength":5},"q":{"maxLength":9,"minLength":1,"type":"string"}}`
	if got := string(get(op.Definition, "inputSchema", "properties")); got != want {
		t.Errorf("got %s", got)
	}
}

func TestAliasesDoNotExplode(t *testing.T) {
	laughs := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	merges := "m0: &m0 {k: v}\n"
	for i := 1; i < 40; i++ {
		before := string(rune('a'+(i-1)/10)) + string(rune('0'+(i-1)%10))
		now := string(rune('a'+i/10)) + string(rune('0'+i%10))
		laughs += now + ": &" + now + " [" + strings.Repeat("*"+before+", ", 9) + "*" + before + "]\n"
		before = strings.ToUpper(before)
		now = strings.ToUpper(now)
		if i == 1 {
			before = "m0"
		}
		merges += now + ": &" + now + " {<<: [*" + before + ", *" + before + "]}\n"
	}
	for _, text := range []string{laughs, merges, "a: &a {<<: *a}\n", "a: &a {<<: [*a, *a]}\n", "a: &a {b: *a}\n", "a: &a [*a]\n", "&a a: *a\n<<: 7\n"} {
		if _, err := openapi.Read([]byte("openapi: 3.0.0\n"+text), nil); err == nil || !isFault(err) {
			t.Errorf("%.40s… gave %v", text, err)
		}
	}
}
