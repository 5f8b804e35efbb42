package find_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/steps/find"
	"github.com/toolfit/toolfit/internal/steps/snapshot"
)

// A page file holds what it is about, a snapshot, and queries: action | query | ref, or the
// kind of refusal.
func TestWrittenPagesAnswerTheirQueries(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.page")
	if err != nil || len(paths) == 0 {
		t.Fatal("no pages", err)
	}
	right, all := 0, 0
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
		page := snapshot.Parse(tree)
		for line := range strings.Lines(queries) {
			all++
			if answers(t, page, strings.TrimSpace(line)) {
				right++
			}
		}
	}
	t.Logf("%d of %d right", right, all)
}

// answers reports a query that does not get its answer.
func answers(t *testing.T, page *snapshot.Page, line string) bool {
	t.Helper()
	parts := strings.Split(line, " | ")
	hit, err := find.New(page, nil).Find(find.Query{Action: find.Action(parts[0]), Text: parts[1]})
	got := ""
	var refusal *find.Refusal
	switch {
	case err == nil:
		got = hit.Ref
	case errors.As(err, &refusal):
		got = strings.TrimPrefix(string(refusal.Code), "ELEMENT_")
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
