package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestCheckAgreesWithTheStandardLibrary(t *testing.T) {
	for _, s := range []string{
		`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `1.0`, `1e400`, `-12.5E+3`, `""`, `"\u00e9\n"`, ` { "a" : [ 1 , {} ] } `,
		`01`, `1.`, `.5`, `+1`, `--1`, `1e`, `nul`, `tru`, `"`, `"\x"`, `"\u12"`, "\"\n\"", `{`, `[`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`,
		`[1 2]`, `{} {}`, ``, `{a:1}`,
		`{"a":1 "b":2}`, "\x00", `9007199254740993`, `"中文"`,
	} {
		if got, want := Check([]byte(s)) == nil, json.Valid([]byte(s)); got != want {
			t.Errorf("Check(%q) valid = %v, want %v", s, got, want)
		}
	}
}

func TestDepthIsBounded(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)
	if err := Check([]byte(deep)); err != nil {
		t.Errorf("depth %d: %v", MaxDepth, err)
	}
	if err := Check([]byte("[" + deep + "]")); !errors.Is(err, ErrDepth) {
		t.Errorf("depth %d: got %v, want %v", MaxDepth+1, err, ErrDepth)
	}
}

func TestWalkGivesMembersInOrderWithTheirBytes(t *testing.T) {
	data := []byte(` {"b" : 1.0, "a\"\u0041":[1, 2] ,"":{"x":9007199254740993}} `)
	var got []string
	w := Object(data)
	for w.Next() {
		got = append(got, string(w.Key)+"="+string(w.Value))
		if !bytes.Equal(data[w.Start:w.End], w.Value) {
			t.Errorf("%s: Start and End do not enclose the value", w.Key)
		}
	}
	if err := w.Err(); err != nil {
		t.Fatal(err)
	}
	if want := `b=1.0|a"A=[1, 2]|={"x":9007199254740993}`; strings.Join(got, "|") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "|"), want)
	}
	if got := Get(data, "", "x"); string(got) != "9007199254740993" {
		t.Errorf("Get = %s", got)
	}
}

func TestAWalkInsideGoesOnOutside(t *testing.T) {
	data := []byte(`{"a":[ {"x":1,"y":2} ,3,[4]], "b":5}`)
	var got []string
	w := Object(data)
	for w.Step() {
		if data[w.Start] != '[' {
			w.Skip()
			got = append(got, string(w.Key)+"="+string(w.Value))
			continue
		}
		rows := w.Into()
		for rows.Step() {
			if data[rows.Start] != '{' {
				rows.Skip()
				got = append(got, string(rows.Value))
				continue
			}
			row := rows.Into()
			row.Next()
			got = append(got, string(row.Key))
			rows.Out(&row) // before its end
			got = append(got, string(rows.Value))
		}
		w.Out(&rows)
		got = append(got, string(w.Value))
	}
	if want := `x|{"x":1,"y":2}|3|[4]|[ {"x":1,"y":2} ,3,[4]]|b=5`; strings.Join(got, "|") != want || w.Err() != nil {
		t.Errorf("got %s, %v", strings.Join(got, "|"), w.Err())
	}
	for _, wrong := range []string{`{"a":[{]}`, `{"a":[{}`, `{"a":[1 2]}`, `{"a":1}`, `{"a":`, `{"a":[]} x`, strings.Repeat(`{"a":[`,
		MaxDepth)} {
		w := Object([]byte(wrong))
		for w.Step() {
			in := w.Into()
			w.Out(&in)
		}
		if w.Err() == nil {
			t.Errorf("%.20s is walked without an error", wrong)
		}
	}
}

func TestSpliceChangesOnlyTheNamedBytes(t *testing.T) {
	data := []byte(`{"name":"old","x":1}`)
	got := AppendSplice(nil, data, Edit{8, 13, []byte(`"new"`)}, Edit{18, 19, []byte(`2`)})
	if string(got) != `{"name":"new","x":2}` {
		t.Errorf("got %s", got)
	}
}

func TestOneLineKeepsTheValue(t *testing.T) {
	data := []byte("{\n\"a\":\r\n\"x\\ny\"}")
	got := OneLine(data)
	if bytes.ContainsAny(got, "\r\n") || !bytes.Contains(data, []byte("\n")) {
		t.Errorf("got %q from %q", got, data)
	}
	if v := Get(got, "a"); string(v) != `"x\ny"` {
		t.Errorf("value is %s", v)
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{`{"a":[1,"x\u00e9",null]}`, `[[[]]]`, `"\ud83d\ude00"`, `-1.5e-7`, `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := Check(data)
		if errors.Is(err, ErrDepth) {
			return
		}
		if (err == nil) != json.Valid(data) {
			t.Fatalf("Check(%q) = %v, json.Valid = %v", data, err, json.Valid(data))
		}
		w := Object(data)
		for w.Next() {
			if Check(w.Value) != nil {
				t.Fatalf("walk of %q gave the invalid value %q", data, w.Value)
			}
		}
		var s string
		if got, ok := String(data); ok {
			if json.Unmarshal(data, &s) != nil || s != got {
				t.Fatalf("String(%q) = %q, want %q", data, got, s)
			}
		}
		quoted := AppendString(nil, string(data))
		if !json.Valid(quoted) {
			t.Fatalf("AppendString(%q) = %s", data, quoted)
		}
		for _, text := range [][]byte{quoted, AppendString(nil, string(quoted)), data} {
			if len(text) > 0 && text[0] == '"' {
				sameEnd(t, text)
			}
		}
	})
}

// sameEnd fails when the two ways to the end of a string differ, as far as it is one.
func sameEnd(t *testing.T, data []byte) {
	t.Helper()
	end, err := skipString(data, 0)
	if got := stringEnd(data, 0); err == nil && got != end {
		t.Fatalf("%q ends at %d, want %d", data, got, end)
	}
}

func BenchmarkCheck50KB(b *testing.B) {
	for name, text := range map[string]string{
		"JSON":        `{"EnvId":"env-00001","Alias":"alias","Storages":[{"Bucket":"b-1"}]},`,
		"pretty JSON": "  {\n    \"EnvId\": \"env-00001\",\n    \"Storages\": [\n      {\n        \"Bucket\": \"b-1\"\n      }\n    ]\n  },\n",
		"code":        "\tfor i := range n {\n\t\tsum += f(x[i], y.Name) // why\n\t}\n",
		"prose":       "Nothing here is escaped but the end of each line,\nwhich comes after some words.\n",
		"Chinese":     "环境列表返回所有可用的云开发环境，订单已经付款。\n",
		"escapes":     `C:\Users\me\a.txt` + "\t\x1f",
	} {
		b.Run(name, func(b *testing.B) {
			text := strings.ReplaceAll(string(AppendString(nil, strings.Repeat(text, 50<<10/len(text)))), `\u0009`, `\t`)
			data := []byte(`{"content":[{"type":"text","text":` + text + `}]}`)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := Check(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestStringsEndWhereTheyEndWhateverStandsWhereInAWord(t *testing.T) {
	for _, odd := range []string{`"`, `\"`, `\\`, `\\"`, `\\\"`, `\n`, `\u00e9`, `\u12"`, `\ud83d\ude00`, `\x`, `\`, "\n", "\x1f", "\x7f",
		"\xff", "é"} {
		for before := range 40 {
			for after := range 40 {
				for _, fill := range []string{"a", `\"`, `\n\t`, "é"} {
					data := []byte(`"` + strings.Repeat(fill, before) + odd + strings.Repeat(fill, after) + `"`)
					if got, want := Check(data) == nil, json.Valid(data); got != want {
						t.Fatalf("%q is valid: %v, want %v", data, got, want)
					}
					if tail := append(data[:len(data):len(data)], ",\n\t\"x\":1\\"...); json.Valid(data) {
						if end, err := Skip(tail, 0, 1); err != nil || end != len(data) {
							t.Fatalf("%q ends at %d, %v; want %d", tail, end, err, len(data))
						}
						sameEnd(t, append(tail, make([]byte, 40)...))
					}
				}
			}
		}
	}
}
