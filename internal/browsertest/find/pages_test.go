package find_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// A page file holds what it is about, a snapshot, and queries: action | query | ref, or the
// code of the error.
func TestWrittenPagesAnswerTheirQueries(t *testing.T) {
	right, all := 0, 0
	indexes := map[string]*find.Index{} // of pages: runs ask one index many times, too
	writtenQueries(t, "testdata/*.page", func(tree, query string) {
		all++
		if indexes[tree] == nil {
			indexes[tree] = find.New(snapshot.Parse(tree), nil)
		}
		if answers(t, indexes[tree], query) {
			right++
		}
	})
	t.Logf("%d of %d right", right, all)
}

// Where what is meant is taken away, hardly anything may take its place: others of the same
// name, the next of a number of things, the box that it stood in.
func TestWhatIsGoneIsNotReplacedByAnother(t *testing.T) {
	replaced, all := 0, 0
	writtenQueries(t, "testdata/*.page", func(tree, query string) {
		parts := strings.Split(query, " | ")
		if strings.ToUpper(parts[2]) == parts[2] { // an error
			return
		}
		all++
		hit, err := find.New(snapshot.Parse(without(tree, parts[2])), nil).Find(find.Query{Action: find.Action(parts[0]), Text: parts[1]})
		if err == nil {
			replaced++
			t.Logf("%s: %s %q (%.2f: %s)", parts[1], hit.Node.Role, hit.Node.Name, hit.Score, hit.Why)
		}
	})
	if replaced*100 > all*10 {
		t.Errorf("%d of %d were replaced", replaced, all)
	}
}

// without is a page without the element of the ref and what is in it.
func without(tree, ref string) string {
	var out strings.Builder
	skip := -1
	for line := range strings.Lines(tree) {
		depth := len(line) - len(strings.TrimLeft(line, " "))
		if skip >= 0 && depth > skip {
			continue
		}
		if skip = -1; strings.Contains(line, "[ref="+ref+"]") {
			skip = depth
			continue
		}
		out.WriteString(line)
	}
	return out.String()
}

// Pages that nobody here wrote, each element by its name and by its name and kind. Without the
// element (action | query | without ref) none of its neighbors, which share words with it, may
// take its place.
func TestPagesOfOthersAnswerByNameAndLureNobody(t *testing.T) {
	writtenQueries(t, "testdata/kits/*.page", func(tree, query string) {
		parts := strings.Split(query, " | ")
		ref, gone := strings.CutPrefix(parts[2], "without ")
		if !gone {
			answers(t, find.New(snapshot.Parse(tree), nil), query)
			return
		}
		hit, err := find.New(snapshot.Parse(without(tree, ref)), nil).Find(find.Query{Action: find.Action(parts[0]), Text: parts[1]})
		if err == nil {
			t.Errorf("%s: got %s %q (%.2f: %s)", query, hit.Node.Role, hit.Node.Name, hit.Score, hit.Why)
		}
	})
}

// writtenQueries visits every query of every page.
func writtenQueries(t *testing.T, pattern string, visit func(tree, query string)) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatal("no pages", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(data), "-- page --\n")
		tree, queries, found := strings.Cut(rest, "-- queries --\n")
		if !found {
			t.Fatalf("%s has no queries", path)
		}
		for line := range strings.Lines(queries) {
			visit(tree, strings.TrimSpace(line))
		}
	}
}

// answers reports a query that does not get its answer.
func answers(t *testing.T, x *find.Index, line string) bool {
	t.Helper()
	parts := strings.Split(line, " | ")
	hit, err := x.Find(find.Query{Action: find.Action(parts[0]), Text: parts[1]})
	got := ""
	var noMatch *find.Error
	switch {
	case err == nil:
		got = hit.Ref
	case errors.As(err, &noMatch):
		got = strings.TrimPrefix(string(noMatch.Code), "ELEMENT_")
	}
	if got == parts[2] {
		return true
	}
	if err == nil {
		t.Errorf("WRONG %s: got %s %s %q (%.2f: %s)", line, got, hit.Node.Role, hit.Node.Name, hit.Score, hit.Why)
	} else {
		t.Errorf("%s: %v", line, err)
	}
	return false
}
