package mask_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/project/quoted"
)

// applyQuoted cuts a value that stands in a string, with more after it, and gives back what
// the string holds then.
func applyQuoted(m *mask.Mask, value string, t *mask.Tally) (string, error) {
	literal := quoted.Append(nil, []byte(value))
	out, end, err := m.ApplyQuoted([]byte{'"'}, append(literal[:len(literal):len(literal)], `,"x":"\"}`...), t)
	if err != nil {
		return string(out[1:]), err
	}
	if end != len(literal) {
		return "", fmt.Errorf("%s ends at %d, want %d", literal, end, len(literal))
	}
	out = append(out, '"')
	if !json.Valid(out) {
		return "", fmt.Errorf("%s is no string", out)
	}
	return string(quoted.AppendText(nil, out)), nil
}

func TestAQuotedValueIsCutAsItIsWritten(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"indented", `"{\n\t\"a\" : \"x\",\r\n \"b\":2 }\n"`, `{\"a\":\"x\"}`},
		{"escapes of both strings stay", `"{\"a\":\"\\\"\\\\\\/\\n\\u00e9\u00e9\/<\u003c\",\"b\":1}"`,
			`{\"a\":\"\\\"\\\\\\/\\n\\u00e9\u00e9\/<\u003c\"}`},
		{"names by either escape", `"{\"\\u0061\":1,\"\u0061\":2,\"b\":3}"`, `{\"\\u0061\":1,\"\u0061\":2}`},
		{"half of a pair", `"{\"a\":\"\ud800\\ud800\",\"b\":1}"`, `{\"a\":\"\ud800\\ud800\"}`},
		{"no UTF-8", "\"{\\\"a\\\":\\\"\xff\\\",\\\"b\\\":1}\"", "{\\\"a\\\":\\\"\xff\\\"}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tally mask.Tally
			got, end, err := parsed(t, "a").ApplyQuoted(nil, []byte(c.in), &tally)
			if err != nil || string(got) != c.want || end != len(c.in) {
				t.Errorf("got  %s %d %v\nwant %s %d", got, end, err, c.want, len(c.in))
			}
			if fields := tally.Fields(); len(fields) != 1 || fields[0].Path != "b" {
				t.Errorf("left out: %v", fields)
			}
		})
	}
}

func TestAQuotedValueThatIsSpelledOddlyIsRefused(t *testing.T) {
	for name, in := range map[string]string{
		"no string":                     `{}`,
		"nothing":                       ``,
		"no end":                        `"{\"a\":1}`,
		"more after it":                 `"{\"a\":1}x"`,
		"an end inside":                 `"{\"a\":\"x"`,
		"a bracket as an escape":        `"\u007b\"a\":1}"`,
		"a quote as an escape":          `"{\"a\":\u0022x\"}"`,
		"a backslash as an escape":      `"{\"a\":\"\u005cn\"}"`,
		"a line break in a string":      `"{\"a\":\"x\ny\"}"`,
		"a tab as an escape in it":      `"{\"a\":\"x\u0009y\"}"`,
		"a wrong escape in it":          `"{\"a\":\"\\x\"}"`,
		"a wrong escape":                `"{\"a\":\"\x\"}"`,
		"an escape at the end":          `"{\"a\":\"\\`,
		"a backslash at the end":        `"{\"a\":\"\`,
		"half of an escape":             `"{\"a\":\"\\u12\"}"`,
		"a backslash before the quotes": `"{\"a\":\"\\"}"`,
	} {
		if got, end, err := parsed(t, "a").ApplyQuoted([]byte("as it was"), []byte(in), &mask.Tally{}); err == nil || end != 0 ||
			string(got) != "as it was" {
			t.Errorf("%s: %s, %d, %v", name, got, end, err)
		}
	}
}

func parsed(t testing.TB, src string) *mask.Mask {
	m, err := mask.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// FuzzApplyQuoted holds that a value in a string is cut to the same as the value itself.
func FuzzApplyQuoted(f *testing.F) {
	for _, m := range []string{`items(id,name)`, `!**/a`, `[:1](a~2)`, `*~3`, `a[-1:]/b,!a/c`} {
		f.Add(m, []byte(`"`+string(quotedSample)+`"`))
		f.Add(m, []byte(`"[{\"a\":\"x\\ud83d\\ude00é\u00e9\/\\\/\\\"\\\\\",\"b\":[{\"a\":1}]},\n\t{\"\\u0061\":{\"c\":null,`+
			`\"a\":-0.5e9}}] "`))
		f.Add(m, []byte(`"{\"a\":[{\"b\":1,\"c\":2},{\"b\":2}],\"a\":\"中文字\"}"`))
	}
	f.Fuzz(func(t *testing.T, src string, literal []byte) {
		m, err := mask.Parse(src)
		if err != nil {
			return
		}
		var a, b mask.Tally
		out, end, err := m.ApplyQuoted(nil, literal, &a)
		if errors.Is(err, mask.ErrMismatch) || err == nil && !json.Valid(literal[:end]) {
			if err == nil {
				t.Fatalf("%q is no string", literal[:end])
			}
			return
		}
		if err != nil {
			return // Apply says what is wrong
		}
		want, err := m.Apply(nil, quoted.AppendText(nil, literal[:end]), &b)
		got := quoted.AppendText(nil, append(append([]byte{'"'}, out...), '"'))
		if err != nil || string(got) != string(want) {
			t.Fatalf("%s on %q gave %q, want %q, %v", src, literal, got, want, err)
		}
		if hasHalf := bytes.Contains(bytes.ToLower(literal), []byte(`\ud`)); a.Rows != b.Rows || a.Cut != b.Cut || a.Others != b.Others ||
			!hasHalf && !slices.Equal(a.Fields(), b.Fields()) {
			t.Fatalf("%s on %q counts %+v, want %+v", src, literal, a.Fields(), b.Fields())
		}
	})
}

// encoders write a text as a JSON string, each as some library does.
var encoders = map[string]func(text string) []byte{
	"Go": func(text string) []byte { literal, _ := json.Marshal(text); return literal },
	"PHP": func(text string) []byte {
		return bytes.ReplaceAll(spelled(text, utf8.MaxRune), []byte("/"), []byte(`\/`))
	},
	"Python": func(text string) []byte { return spelled(text, 0x7F) },
}

// spelled writes all characters beyond the last as escapes.
func spelled(text string, last rune) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.Encode(text) // text can be written
	var literal []byte
	for _, r := range strings.TrimSpace(out.String()) {
		switch {
		case r <= last:
			literal = utf8.AppendRune(literal, r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			literal = fmt.Appendf(literal, `\u%04x\u%04X`, high, low)
		default:
			literal = fmt.Appendf(literal, `\u%04x`, r)
		}
	}
	return literal
}

// FuzzQuotedIsAsUnquoted holds that it does not matter whether a value is cut in the string
// that it stands in, or taken out, cut and put back, for whatever encoders write.
func FuzzQuotedIsAsUnquoted(f *testing.F) {
	for _, m := range []string{`items(id,name)`, `!**/a`, `[:1](a~2)`, `*~3`, `a[-1:]/b,!a/c`, `x`} {
		f.Add(m, sample)
		f.Add(m, "{\"a\":\t[{\"b\":1,\"c\":\"\"},\r\n{\"b\":{ \n}}],\"/\":\"<\u2028é😀\\\"\\/\\u00e9\",\"d\":\"\",\"e\":null}")
		f.Add(m, `[0, {"x":1 } ] `)
		f.Add(m, `{"a":"`+strings.Repeat("aB3/", 300)+`","中文":[[],{}]}`)
	}
	f.Fuzz(func(t *testing.T, src, value string) {
		parsed, err := mask.Parse(src)
		if err != nil || !utf8.ValidString(value) {
			return
		}
		for name, m := range map[string]*mask.Mask{"mask": parsed, "filled": mask.Without(nil, true, 0), "short": mask.Short(3, true)} {
			var plain mask.Tally
			want, wantErr := m.Apply(nil, []byte(value), &plain)
			for encoder, encode := range encoders {
				var tally mask.Tally
				literal := encode(value)
				out, end, err := m.ApplyQuoted([]byte{'"'}, append(literal[:len(literal):len(literal)], `}"`...), &tally)
				if (err == nil) != (wantErr == nil) || errors.Is(err, mask.ErrMismatch) != errors.Is(wantErr, mask.ErrMismatch) {
					t.Fatalf("%s %s by %s: %v, want %v", name, src, literal, err, wantErr)
				}
				if err != nil {
					continue
				}
				if got := quoted.AppendText(nil, append(out, '"')); end != len(literal) || string(got) != string(want) {
					t.Fatalf("%s %s, %s by %s gave %q to %d, want %q", name, src, literal, encoder, got, end, want)
				}
				if tally.Rows != plain.Rows || tally.Cut != plain.Cut || tally.Others != plain.Others ||
					!slices.Equal(tally.Fields(), plain.Fields()) || !slices.Equal(m.Unseen(&tally), m.Unseen(&plain)) {
					t.Fatalf("%s %s, %s by %s counts %+v, want %+v", name, src, literal, encoder, tally.Fields(), plain.Fields())
				}
			}
		}
	})
}

var quotedSample = func() []byte {
	literal := quoted.Append(nil, []byte(sample))
	return literal[1 : len(literal)-1]
}()
