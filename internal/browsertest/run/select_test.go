package run_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/run"
)

// Whatever is said, a list is asked for options that it has, or for the very words.
func TestOptionsAreThoseOfTheListOrTheVeryWords(t *testing.T) {
	words := []string{"Red", "red", "Blue", "Black and White", "A, B", "A", "B", "红色", "红色和蓝色", "蓝色", "R&B", ""}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		options := slices.Clone(words[:len(words)-1])
		r.Shuffle(len(options), func(i, k int) { options[i], options[k] = options[k], options[i] })
		options = options[:1+r.IntN(len(options))]
		tree := "- combobox \"List\" [ref=e1]:\n"
		for _, o := range options {
			tree += fmt.Sprintf("  - option %q\n", o)
		}
		said := words[r.IntN(len(words)-1)]
		if r.IntN(2) == 0 {
			said += " and " + words[r.IntN(len(words)-1)]
		}
		b := &fakeBrowser{tree: page(tree)}
		step, _ := json.Marshal(map[string]any{"select": map[string]any{"target": "List", "value": said}})
		one(b, run.Options{}, "steps: ["+string(step)+"]")
		acted := b.acted()
		if len(acted) == 0 {
			t.Fatalf("%q of %q: nothing was done", said, options)
		}
		var args struct{ Values []string }
		if err := json.Unmarshal([]byte(acted[0][strings.IndexByte(acted[0], ' '):]), &args); err != nil {
			t.Fatal(err)
		}
		isOption := func(v string) bool { return slices.Contains(options, v) }
		switch whole := isOption(said); {
		case whole && !slices.Equal(args.Values, []string{said}):
			t.Errorf("%q of %q became %q", said, options, args.Values)
		case !whole && !slices.Equal(args.Values, []string{said}) && slices.ContainsFunc(args.Values, func(v string) bool { return !isOption(v) }):
			t.Errorf("%q of %q became %q", said, options, args.Values)
		}
	}
}

func TestWhatIsOpenIsNotOpenedAgain(t *testing.T) {
	const tree = `- generic [ref=e1]:
  - button "Sort" [expanded] [ref=e2]
  - listbox [ref=e3]:
    - option "Name" [ref=e4]
    - option "Date" [ref=e5]
  - button "More" [ref=e6]`
	for sentence, want := range map[string]string{
		`select "Date" in Sort`:       "e5",
		`expand Sort`:                 "",
		`collapse Sort`:               "e2",
		`expand More`:                 "e6",
		`select "Size" in Sort`:       "", // a click would close it
		`collapse More`:               "",
		`select "Date" from the list`: "e5",
	} {
		b := &fakeBrowser{tree: page(tree), on: map[string]func(map[string]any) (string, bool){
			"browser_select_option": func(map[string]any) (string, bool) {
				return "### Error\nError: Element is not a <select> element", true
			},
		}}
		one(b, run.Options{}, fmt.Sprintf("steps: [%q]", sentence))
		var clicked []string
		for _, call := range b.acted() {
			if _, after, found := strings.Cut(call, `"target":"`); found && strings.HasPrefix(call, "browser_click") {
				clicked = append(clicked, strings.TrimSuffix(after, `"}`))
			}
		}
		if strings.Join(clicked, " ") != want {
			t.Errorf("%s: clicked %q, want %q", sentence, clicked, want)
		}
	}
}
