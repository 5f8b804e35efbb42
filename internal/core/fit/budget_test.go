package fit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// code is the first problem of a refusal; "" for what fits.
func code(t *testing.T, err error) Code {
	t.Helper()
	var no *Error
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &no):
		t.Fatalf("no refusal: %v", err)
	}
	return no.Problems[0].Code
}

// repeated is an array of so many values.
func repeated(n int, value func(i int) string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ",%s", value(i))
	}
	return "[" + b.String()[1:] + "]"
}

func TestWhatACheckCostsIsCharged(t *testing.T) {
	word := func(i int) string { return fmt.Sprintf("%q", fmt.Sprintf("value %06d", i)) }
	digits := func(i int) string { return fmt.Sprint(1_000_000 + i) }
	long := strings.Repeat("a", 1<<15)
	for _, c := range []struct{ name, schema, value string }{
		{"a pattern that follows many ways", `{"pattern":"(a?){400}b"}`, `"` + long + `"`},
		{"one pattern after another", `{"allOf":[` + strings.Repeat(`{"pattern":"(a?){20}"},{"pattern":"a*b?$"},`, 500) + `{}]}`, `"` +
			long + `"`},
		{"a pattern for names", `{"patternProperties":{"(a?){400}b":{}}}`, `{"` + long + `":1}`},
		{"a long enum for each of many values", `{"items":{"enum":` + repeated(5_000, digits) + `}}`,
			repeated(5_000, func(i int) string { return digits(4_999 - i) })},
		{"a large constant again and again", `{"allOf":[` + strings.Repeat(`{"not":{"const":[1]}},`, 2000) + `{}]}`, repeated(2000, word)},
		{"uniqueItems again and again", `{"allOf":[` + strings.Repeat(`{"uniqueItems":true},`, 2000) + `{}]}`, repeated(2000, word)},
		{"the length of a text again and again", `{"allOf":[` + strings.Repeat(`{"minLength":1},`, 5_000) + `{}]}`, `"` + long + `"`},
		{"the names that depend on others", `{"dependentRequired":` + object(6_000, `"x%d":[]`) + `}`, object(6_000, `"y%d":0`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := compiled(t, c.schema, nil).Check(t.Context(), json.RawMessage(c.value)); code(t, err) != TooComplex {
				t.Fatalf("%.300v", err)
			}
		})
	}
}

// object has so many members.
func object(n int, member string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ","+member, i)
	}
	return "{" + b.String()[1:] + "}"
}

func TestALongEnumCostsNoMoreThanAShortOne(t *testing.T) {
	word := func(i int) string { return fmt.Sprintf("%q", fmt.Sprintf("value %06d", i)) }
	tool := compiled(t, `{"items":{"enum":`+repeated(20_000, word)+`}}`, nil)
	if err := tool.Check(t.Context(), json.RawMessage(repeated(20_000, word))); err != nil {
		t.Errorf("%.300v", err)
	}
	if err := tool.Check(t.Context(), json.RawMessage(`["value 020000"]`)); code(t, err) != NotListed {
		t.Errorf("%.300v", err)
	}
	if err := compiled(t, `{"enum":`+repeated(40, func(i int) string { return fmt.Sprintf(`[%d]`, i) })+`}`, nil).Check(t.Context(),
		json.RawMessage(`"[1.0e1]"`)); code(t, err) != NotListed {
		t.Errorf("a text that looks like a listed array is listed: %v", err)
	}
}

func TestHonestPatternsAreNeverTooMuch(t *testing.T) {
	for _, c := range []struct{ pattern, text string }{
		{`^.{1,1000}$`, strings.Repeat("a", 1000)},
		{`^[\p{L}\p{N} _-]{1,255}$`, strings.Repeat("中", 255)},
		{`[a-z]{1,1000}@example`, strings.Repeat("a", 1000) + "@example"},
		{`^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`, strings.Repeat("abcd", 1<<16)},
		{`^[\s\S]*$`, strings.Repeat("line\n", 1<<16)},
	} {
		args, _ := json.Marshal(map[string]any{"a": c.text, "b": []string{c.text, c.text}})
		pattern, _ := json.Marshal(c.pattern)
		schema := fmt.Sprintf(`{"properties":{"a":{"pattern":%[1]s},"b":{"items":{"pattern":%[1]s}}}}`, pattern)
		if _, err := compiled(t, schema, nil).Fit(t.Context(), args); err != nil {
			t.Errorf("%s: %.200v", c.pattern, err)
		}
	}
}

func TestAnUnfinishedCheckIsNoMatch(t *testing.T) {
	tool := compiled(t, `{"not":{"pattern":"(a?){400}b"}}`, nil)
	if err := tool.Check(t.Context(), json.RawMessage(`"`+strings.Repeat("a", 1<<15)+`"`)); code(t, err) != TooComplex {
		t.Fatal(err)
	}
}

// TestProgramsOfPatternsAreBounded: a schema of a few bytes must not become a program of many.
func TestProgramsOfPatternsAreBounded(t *testing.T) {
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprintf(`{"pattern":"%da{1000}"}`, i)
	}
	for _, c := range []struct{ name, schema string }{
		{"repetitions of repetitions", `{"pattern":"((a{100}){10}){100}"}`},
		{"a large class, repeated", `{"pattern":"\\pL{1000}"}`},
		{"one behind the other", `{"pattern":"` + strings.Repeat("a{1000}", 500) + `"}`},
		{"classes one behind the other", `{"pattern":"` + strings.Repeat(`\\pL`, 1300) + `"}`},
		{"longer than a pattern may be", `{"pattern":"` + strings.Repeat("a", maxSource+1) + `"}`},
		{"many in one schema", `{"anyOf":[` + strings.Join(many, ",") + `,{}]}`},
		{"no regular expression", `{"pattern":"(?<=a)b"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tool := compiled(t, c.schema, nil)
			if err := tool.Check(t.Context(), json.RawMessage(`"x"`)); err != nil {
				t.Errorf("a pattern that is not used refuses: %v", err)
			}
			if notes := tool.Notes(); len(notes) == 0 || !strings.Contains(notes[0], "is not checked") {
				t.Errorf("nothing says that it is not checked: %q", notes)
			}
			sum := 0
			for _, s := range append(tool.schema.root.any, tool.schema.root) {
				if s.pattern != nil {
					sum += len(s.pattern.program)
				}
			}
			if sum > maxPrograms {
				t.Errorf("%d instructions", sum)
			}
		})
	}
}

// leaver is the context of a caller who leaves while its arguments are looked at.
type leaver struct {
	context.Context
	looks, after int
}

func (l *leaver) Err() error {
	l.looks++
	if l.looks > l.after {
		return context.Canceled
	}
	return nil
}

func TestAFitEndsWhenItsCallerLeaves(t *testing.T) {
	for _, c := range []struct{ name, schema, args string }{
		{"in a pattern", `{"properties":{"a":{"pattern":"(a?){400}b"}}}`, `{"a":"` + strings.Repeat("a", 1<<20) + `"}`},
		{"in many values", `{"properties":{"a":{"items":{"type":"integer"}}}}`, `{"a":[` + strings.Repeat("1,", 1<<20) + `1]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := &leaver{Context: context.Background(), after: 5}
			_, err := compiled(t, c.schema, nil).Fit(ctx, json.RawMessage(c.args))
			if !fault.Is(err, fault.Canceled) {
				t.Fatalf("%.300v", err)
			}
			if ctx.looks > 20 {
				t.Errorf("it went on for %d looks after the caller had left", ctx.looks-ctx.after)
			}
		})
	}
}

func TestTheSameArgumentsCostTheSame(t *testing.T) {
	root, _ := compile([]byte(`{"items":{"pattern":"(a?){100}b","enum":["c","d"]},"uniqueItems":true}`))
	tp := &tape{}
	if err := tp.read([]byte(`["` + strings.Repeat("a", 5000) + `","b","a"]`)); err != nil {
		t.Fatal(err)
	}
	left := 0
	for k := range 3 {
		c := checker{budget: newBudget(t.Context(), len(tp.data)), t: tp, report: &Error{}}
		c.ok(root, 0)
		if k > 0 && c.left != left {
			t.Fatalf("%d steps are left, then %d", left, c.left)
		}
		left = c.left
	}
}

// FuzzPattern holds our way to run a program to that of package regexp.
func FuzzPattern(f *testing.F) {
	for _, c := range [][2]string{
		{`^a+$`, "aaa"}, {`(a|b)*c`, "ababc"}, {`\bword\b`, "a word"}, {`(?i)straße`, "STRASSE straße"}, {`(?m)^b$`, "a\nb\nc"},
		{`(?s)a.b`, "a\nb"}, {`a.b`, "a\nb"},
		{`[^a-z]{2,3}`, "ab12"}, {`()*|x`, ""}, {`\Bx`, "ax"}, {`a{0}`, ""}, {`^(?:)*$`, "x"}, {`\pL+\z`, "中文"}, {`x*`, "\xff"},
		{`$^`, ""}, {`[[:word:]]+`, "é"}, {`(?i)k`, "\u212a"},
	} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, source, text string) {
		room := maxPrograms
		p, err := newPattern(source, &room)
		re, goErr := regexp.Compile(source)
		if err != nil {
			if goErr == nil && !errors.Is(err, errLarge) {
				t.Fatalf("%q: %v", source, err)
			}
			return
		}
		if goErr != nil {
			t.Fatalf("%q is taken: %v", source, goErr)
		}
		if len(p.program) > 2*maxProgram {
			t.Fatalf("%q: %d instructions", source, len(p.program))
		}
		b := plenty()
		if got := p.match([]byte(text), b); got != re.MatchString(text) && !b.spent() {
			t.Fatalf("%q in %q: %v", source, text, got)
		}
	})
}

func BenchmarkFitPattern(b *testing.B) {
	tool := compiled(b, `{"properties":{"id":{"pattern":"^[a-z]{2,8}-[0-9]{1,12}$"},"at":{"pattern":"^\\d{4}-\\d{2}-\\d{2}$"}}}`, nil)
	args := []byte(`{"id":"order-123456","at":"2026-01-02"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tool.Fit(b.Context(), args); err != nil {
			b.Fatal(err)
		}
	}
}
