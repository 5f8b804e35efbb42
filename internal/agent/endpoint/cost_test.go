package endpoint

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// read is how many bytes it takes to read an answer: all that is put together again and
// again is written down again and again, so they grow as the work does.
func read(body string) (allocated uint64, a *answer, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a = &answer{model: "m"}
	err = a.read(strings.NewReader(body), quiet)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, a, err
}

func TestWorkGrowsAsTheAnswerDoes(t *testing.T) {
	part := `{"type":"text","text":"some words"},`
	piece := "data: " + calling(`{"function":{"name":"read","arguments":"{\"some words\":"}}`) + "\n"
	for name, build := range map[string]func(n int) string{
		"parts": func(n int) string { return "data: " + delta(`{"content":[`+strings.Repeat(part, n)+`""]}`) },
		"choices": func(n int) string {
			return `{"choices":[` + strings.Repeat(`{"delta":{"content":"some words"}},`, n) + `{}]}`
		},
		"names, again": func(n int) string { return strings.Repeat(piece, n) },
	} {
		const n, times = 500, 16
		one, _, err := read(build(n))
		if err != nil {
			t.Fatal(err)
		}
		all, _, err := read(build(n * times))
		if err != nil || all > 3*times*one {
			t.Errorf("%s: the answer grew %d times, the work from %d to %d, %v", name, times, one, all, err)
		}
	}
}

func TestAnAnswerHasNoMoreCallsThanItMay(t *testing.T) {
	var list []string
	for i := range maxCalls + 1 {
		list = append(list, fmt.Sprintf(`{"index":%d,"id":"c%d","function":{"name":"read","arguments":"{}"}}`, i, i))
	}
	if _, a, err := read("data: " + calling(list[:maxCalls]...)); err != nil || len(a.reply().Calls) != maxCalls {
		t.Errorf("%d calls, %v", len(a.reply().Calls), err)
	}
	if _, _, err := read("data: " + calling(list...)); !fault.Is(err, fault.TooLarge) {
		t.Errorf("%v", err)
	}
}
