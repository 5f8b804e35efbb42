package toolcall

import (
	"runtime"
	"strings"
	"testing"
)

// hostile are texts that invite to read them again and again, each n parts long.
var hostile = map[string]func(n int) string{
	"marks":                  func(n int) string { return strings.Repeat("<", n) },
	"fences":                 func(n int) string { return strings.Repeat("```", n) },
	"a long word in a fence": func(n int) string { return "```" + strings.Repeat("a", n) },
	"blanks after a fence":   func(n int) string { return "```" + strings.Repeat(" ", n) },
	"blanks after a call":    func(n int) string { return "```\n<tool_call>{}</tool_call>" + strings.Repeat(" ", n) },
	"tags spoken of":         func(n int) string { return strings.Repeat("`<tool_call>`", n) },
	"tags in quotes":         func(n int) string { return `<tool_call>{"a":"` + strings.Repeat("</tool_call>", n) },
	"opening tags":           func(n int) string { return strings.Repeat("<tool_call>", n) },
	"quotes and tags":        func(n int) string { return "<tool_call>" + strings.Repeat(`"</tool_call>`, n) },
	// The quote is one outside of a string and none inside: every tag is in doubt, again
	// each time the one before it is taken for the end.
	"doubts on doubts": func(n int) string { return `<tool_call>"` + strings.Repeat(`<tool_call>\"`, n) },
	"few doubts, far apart": func(n int) string {
		return `<tool_call>"` + strings.Repeat(`<tool_call>\"`+strings.Repeat("x", n/4), 2*maxDoubts)
	},
	"brackets":              func(n int) string { return "<tool_call>" + strings.Repeat("[", n) + "</tool_call>" },
	"objects":               func(n int) string { return "<tool_call>" + strings.Repeat(`{"a":`, n) + "</tool_call>" },
	"commas":                func(n int) string { return "<tool_call>{" + strings.Repeat(`"a":1,,`, n) + "</tool_call>" },
	"thoughts in thoughts":  func(n int) string { return strings.Repeat("<think>", n) },
	"thoughts aside":        func(n int) string { return "a" + strings.Repeat("<think></think>", n) },
	"asides without an end": func(n int) string { return "a" + strings.Repeat("<think>", n) },
	"marks in thoughts":     func(n int) string { return "<think>" + strings.Repeat("</think", n) },
	"ends without thoughts": func(n int) string { return strings.Repeat("a\n</think>\n", n) },
	"a list that was thought": func(n int) string {
		return "<tool_call>[" + strings.Repeat("{},", n) + "{}]</tool_call>\n</think>"
	},
	"heads of calls in tags":       func(n int) string { return strings.Repeat("<function=a>\n", n) },
	"a long head":                  func(n int) string { return "<function=" + strings.Repeat("a", n) },
	"calls in tags":                func(n int) string { return strings.Repeat("<function=a></function>\n", n) },
	"values in values":             func(n int) string { return "<function=a>" + strings.Repeat("<parameter=x>", n) },
	"ends of values":               func(n int) string { return "<function=a>{}" + strings.Repeat("</parameter>", n) },
	"ends of calls in a value":     func(n int) string { return "<function=a><parameter=x>" + strings.Repeat("</function>", n) },
	"calls in tags without an end": func(n int) string { return strings.Repeat("<function=a><parameter=x>", n) },
	"brackets in tags":             func(n int) string { return "<function=a><parameter=x>" + strings.Repeat(">", n) },
	"a call without an end":        func(n int) string { return `<tool_call>{"a":"` + strings.Repeat("x", n) },
}

// allocated is how many bytes it takes to read a text. All that is read again is written
// down again, so they grow as the work does, however busy the machine is.
func allocated(text string) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	parse(false, text)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestWorkGrowsAsTheTextDoes(t *testing.T) {
	const n, times = 1 << 10, 8
	for name, text := range hostile {
		short, long := text(n), text(n*times)
		one, all := allocated(short), allocated(long)
		if grown := float64(len(long)) / float64(len(short)); float64(all) > 2*grown*float64(one) {
			t.Errorf("%s: the text grew %.0f times, the work %.0f times", name, grown, float64(all)/float64(one))
		}
		if per := all / uint64(len(long)); per > 10*maxDoubts {
			t.Errorf("%s: %d bytes of work for each byte of text", name, per)
		}
	}
}

func TestWorkAtTheEndGrowsAsTheTextDoes(t *testing.T) {
	const n, times = 1 << 10, 8
	work := func(text string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		AtEnd(text)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, part := range []string{
		"[", "{", "(", "f(", "f(\n", "f()\n", "[f(),\n", "f(a=1,\n", "{\"a\":\n", "{}\n", `{"name":"a","arguments":{}},` + "\n", "f('\n", "\n", "```", "a",
		`{"function":`, `[{"tool_calls":`, "f(a=[1],", "f([\n", "/*\n", "#\n",
	} {
		for _, end := range []string{"", ")", "]", "```", "}", "'"} {
			short := strings.Repeat(part, n) + end
			long := strings.Repeat(part, n*times) + end
			one, all := work(short), work(long)
			if all > 4*times*one+1<<16 || all > uint64(20*maxDoubts*len(long)) {
				t.Errorf("%q before %q: the text grew %d times, the work %d times, to %d bytes for each", part, end, times, all/one, all/uint64(len(long)))
			}
		}
	}
}

func TestACallOverTheLimitIsAnsweredAndLetGo(t *testing.T) {
	got := parse(false, `<tool_call>{"a":"`+strings.Repeat("x", maxBody), ` more`)
	if !strings.HasSuffix(got, " more|! the call is longer than 4194304 bytes") {
		t.Errorf("got %.80q", got)
	}
}

func BenchmarkHostileText(b *testing.B) {
	for name, text := range hostile {
		b.Run(name, func(b *testing.B) {
			whole := text(1 << 14)
			b.SetBytes(int64(len(whole)))
			for b.Loop() {
				parse(false, whole)
			}
		})
	}
}
