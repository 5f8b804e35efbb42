package run_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/run"
)

// widgetPage is a page as a real browser gave it: its snapshot, the input types of its fields, and what its
// source says of what the snapshot does not show.
type widgetPage struct{ name, tree, types, source string }

// visitTasks goes over tasks in ordinary words: sentence | calls, with commas between them, or the code of
// the error. Of several refs any one will do: a click reaches the same.
func visitTasks(t *testing.T, visit func(p widgetPage, sentence, want string)) {
	t.Helper()
	paths, err := filepath.Glob("testdata/widgets/*.page")
	if err != nil || len(paths) == 0 {
		t.Fatal("no pages", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p := widgetPage{name: filepath.Base(path)}
		_, rest, _ := strings.Cut(string(data), "-- page --\n")
		rest, tasks, found := strings.Cut(rest, "-- tasks --\n")
		if !found {
			t.Fatalf("%s has no tasks", path)
		}
		rest, p.source, _ = strings.Cut(rest, "-- source --\n")
		p.tree, p.types, _ = strings.Cut(rest, "-- types --\n")
		for line := range strings.Lines(tasks) {
			sentence, want, _ := strings.Cut(strings.TrimRight(line, "\n"), " |")
			visit(p, sentence, strings.TrimSpace(want))
		}
	}
}

func TestOrdinaryWordsReachOrdinaryWidgets(t *testing.T) {
	right, all, wrong := 0, 0, 0
	visitTasks(t, func(p widgetPage, sentence, want string) {
		all++
		did, code := p.do(sentence)
		switch {
		case reaches(did, code, want):
			right++
		case len(did) > 0:
			wrong++
			t.Errorf("WRONG %s: %s: %q, want %s", p.name, sentence, did, want)
		default:
			t.Errorf("%s: %s: %s, want %s", p.name, sentence, code, want)
		}
	})
	t.Logf("%d of %d right, %d wrong", right, all, wrong)
}

// Where what is meant is gone, a sentence that counts nothing may at most click the text that labeled it.
func TestWhereAWidgetIsGoneNoOtherIsUsed(t *testing.T) {
	counts := regexp.MustCompile(`(?i)\b(?:first|second|third|last)\b|第|最后`)
	replaced, all := 0, 0
	visitTasks(t, func(p widgetPage, sentence, want string) {
		fields := strings.Fields(want)
		if len(fields) < 2 || counts.MatchString(sentence) || strings.Contains(want, ",") || !strings.Contains(p.tree, "[ref="+fields[1]+"]") {
			return
		}
		all++
		box := ""
		for _, ref := range fields[1:] {
			box += " " + boxOf(p.tree, ref)
			p.tree = without(p.tree, ref)
		}
		did, _ := p.do(sentence)
		for _, call := range did {
			tool, ref, _ := strings.Cut(call, " ")
			if tool != "click" || !strings.Contains(box, "[ref="+ref+"]") && !strings.HasPrefix(ref, "body") {
				replaced++
				t.Logf("%s: %s: %s, want %s", p.name, sentence, call, want)
			}
		}
	})
	if replaced*100 > all {
		t.Errorf("%d of %d were replaced", replaced, all)
	}
}

// without is a page without the element of a ref and what is in it.
func without(tree, ref string) string {
	var out strings.Builder
	inside := -1
	for line := range strings.Lines(tree) {
		depth := len(line) - len(strings.TrimLeft(line, " "))
		if inside >= 0 && depth > inside {
			continue
		}
		inside = -1
		if strings.Contains(line, "[ref="+ref+"]") {
			inside = depth
			continue
		}
		out.WriteString(line)
	}
	return out.String()
}

// boxOf is the line of the element around that of a ref.
func boxOf(tree, ref string) string {
	before, _, _ := strings.Cut(tree, "[ref="+ref+"]")
	lines := strings.Split(before, "\n")
	depth := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	own := depth(lines[len(lines)-1])
	for _, line := range slices.Backward(lines) {
		if depth(line) < own {
			return line
		}
	}
	return ""
}

// do does what a sentence says on a page that never changes, and returns the calls and the code of the error.
func (p *widgetPage) do(sentence string) (did []string, code string) {
	defer func() {
		if why := recover(); why != nil { // the sentence cannot be read
			code = fmt.Sprint(why)
		}
	}()
	b := &fakeBrowser{tree: page(p.tree)}
	b.on = map[string]func(map[string]any) (string, bool){"browser_evaluate": func(args map[string]any) (string, bool) {
		ref, isAsked := args["target"].(string)
		if !isAsked {
			return "### Result\n[" + strings.Join(strings.Split(strings.TrimSpace(p.source), "\n"), ",") + "]\n", false
		}
		_, after, _ := strings.Cut("\n"+p.types, "\n"+ref+" ")
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
