package run_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/run"
)

// A page file holds a snapshot that a browser gave, the input types of its fields, what its source says of
// what the snapshot does not show, and tasks in ordinary words: sentence | calls, with commas between them, or the code of the error. Of several refs any one
// will do: a click reaches the same.
func TestOrdinaryWordsReachOrdinaryWidgets(t *testing.T) {
	paths, err := filepath.Glob("testdata/widgets/*.page")
	if err != nil || len(paths) == 0 {
		t.Fatal("no pages", err)
	}
	right, all, wrong := 0, 0, 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(data), "-- page --\n")
		tree, tasks, found := strings.Cut(rest, "-- tasks --\n")
		tree, source, _ := strings.Cut(tree, "-- source --\n")
		tree, types, _ := strings.Cut(tree, "-- types --\n")
		if !found {
			t.Fatalf("%s has no tasks", path)
		}
		for line := range strings.Lines(tasks) {
			sentence, want, _ := strings.Cut(strings.TrimRight(line, "\n"), " |")
			all++
			did, code := taskOn(tree, types, source, sentence)
			switch {
			case reaches(did, code, strings.TrimSpace(want)):
				right++
			case len(did) > 0:
				wrong++
				t.Errorf("WRONG %s: %s: %q, want %s", filepath.Base(path), sentence, did, want)
			default:
				t.Errorf("%s: %s: %s, want %s", filepath.Base(path), sentence, code, want)
			}
		}
	}
	t.Logf("%d of %d right, %d wrong", right, all, wrong)
}

// taskOn does what a sentence says on a page that never changes, and returns the calls and the code of the error.
func taskOn(tree, types, source, sentence string) (did []string, code string) {
	defer func() {
		if p := recover(); p != nil {
			code = fmt.Sprint(p)
		}
	}()
	b := &fakeBrowser{tree: page(tree)}
	b.on = map[string]func(map[string]any) (string, bool){"browser_evaluate": func(args map[string]any) (string, bool) {
		ref, about := args["target"].(string)
		if !about {
			return "### Result\n[" + strings.Join(strings.Split(strings.TrimSpace(source), "\n"), ",") + "]\n", false
		}
		_, after, _ := strings.Cut(types, ref+" ")
		kind, _, _ := strings.Cut(after, "\n")
		return fmt.Sprintf("### Result\n{\"type\": %q}\n", kind), false
	}}
	text, err := json.Marshal([]string{sentence})
	if err != nil {
		return nil, err.Error()
	}
	c, _ := one(b, run.Options{}, "steps: "+string(text))
	for _, call := range b.acted() {
		tool, raw, _ := strings.Cut(call, " ")
		var args struct {
			Target string
			Values []string
		}
		if json.Unmarshal([]byte(raw), &args) != nil || args.Target == "" || tool == "browser_evaluate" {
			continue
		}
		tool, _, _ = strings.Cut(strings.TrimPrefix(tool, "browser_"), "_")
		did = append(did, strings.TrimSpace(tool+" "+args.Target+" "+strings.Join(args.Values, "+")))
	}
	for _, s := range c.Steps {
		if s.Error != nil {
			code = strings.TrimPrefix(string(s.Error.Details.Code), "ELEMENT_") + ": " + s.Error.Message
		}
	}
	return did, code
}

// reaches tells whether what was done is what was wanted.
func reaches(did []string, code, want string) bool {
	if want != "" && strings.ToUpper(want) == want {
		return len(did) == 0 && strings.HasPrefix(code, want)
	}
	var calls []string
	if want != "" {
		calls = strings.Split(want, ", ")
	}
	return code == "" && slices.EqualFunc(did, calls, func(did, want string) bool {
		tool, refs, _ := strings.Cut(want, " ")
		return did == want || tool != "select" && slices.ContainsFunc(strings.Fields(refs), func(ref string) bool { return did == tool+" "+ref })
	})
}
