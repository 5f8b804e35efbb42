package quoted_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/toolfit/toolfit/internal/core/project/quoted"
)

func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		` {"a":1} `:                 `{"a":1}`,
		"[1]\n":                     `[1]`,
		"```json\n{\"a\":1}\n```":   `{"a":1}`,
		"``` json\r\n[1]\r\n```\n":  `[1]`,
		"```\n{}\n```":              "",
		"```yaml\n{}\n```":          "",
		"```json\n{}\n``` and more": "",
		`{"a":1`:                    "",
		"":                          "",
		"```json```":                "",
		"words":                     "",
		"1":                         "",
	} {
		start, end, ok := quoted.JSON([]byte(text))
		if ok != (want != "") || ok && text[start:end] != want {
			t.Errorf("%q: %v, %q", text, ok, text[start:end])
		}
	}
}

func TestBytesThatAreNoUTF8Stay(t *testing.T) {
	for _, text := range []string{"\xff", "\xed", "\xed\xa0", "\xed\xc3\xa9", "\xed\xa0z", "\xed\xffé"} {
		if got := string(quoted.Append(nil, []byte(text))); got != `"`+text+`"` {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{`"a\n\t\"\\\/\b\f\r"`, `"\ud83d\ude00\u00e9\ud800x\udc00"`, `"中文"`, "\"\xff\xed\xa0\x80\"", `""`} {
		f.Add([]byte(s))
	}
	f.Add([]byte(`"a\ud800\uqqqq"`))
	f.Add([]byte(`"no end \`))
	f.Fuzz(func(t *testing.T, literal []byte) {
		if _, end := quoted.ReadText(nil, literal); end > 0 && !json.Valid(literal[:end]) {
			t.Fatalf("%q is taken for a string", literal[:end])
		}
		literal = bytes.TrimSpace(literal)
		if len(literal) < 2 || literal[0] != '"' || !json.Valid(literal) {
			return
		}
		text, end := quoted.ReadText(nil, literal)
		if end != len(literal) {
			t.Fatalf("%q ends at %d", literal, end)
		}
		again := quoted.Append(nil, text)
		if !json.Valid(again) {
			t.Fatalf("%q became %q", literal, again)
		}
		var a, b string
		if json.Unmarshal(literal, &a) != nil || json.Unmarshal(again, &b) != nil {
			t.Fatalf("%q became %q", literal, again)
		}
		if a != b && !bytes.Contains(literal, []byte{0xED}) { // an encoded surrogate becomes an escaped one
			t.Fatalf("%q became %q", literal, again)
		}
		quoted.JSON(text)
	})
}

func BenchmarkText50KB(b *testing.B) {
	row := []byte(`{"EnvId":"env-00001","Alias":"alias","Storages":[{"Bucket":"b-1"}]},`)
	literal := quoted.Append(nil, bytes.Repeat(row, 50<<10/len(row)))
	var text, again []byte
	b.SetBytes(int64(len(literal)))
	b.ReportAllocs()
	for b.Loop() {
		text = quoted.AppendText(text[:0], literal)
		again = quoted.Append(again[:0], text)
	}
}
