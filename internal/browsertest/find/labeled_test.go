package find_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// labeled is one query with the element that a person means by it.
type labeled struct {
	Page, Query string
	Action      find.Action
	Expect      struct {
		Ref   string
		Error snapshot.Code
	}
}

// outcome is what became of the queries on one page.
type outcome struct{ asked, right, wrong, none int }

func recordedPage(t testing.TB, name string) *snapshot.Page {
	t.Helper()
	return snapshot.Parse(string(corpora.Read(t, "browser/snapshots/"+name+".yaml")))
}

func TestLabeledQueriesFindTheirElementAndNeverAnother(t *testing.T) {
	right, all := 0, 0
	pages := map[string]*outcome{}
	names := []string{}
	for line := range bytes.Lines(corpora.Read(t, "browser/cases.jsonl")) {
		var c labeled
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		all++
		page := pages[c.Page]
		if page == nil {
			page = &outcome{}
			pages[c.Page] = page
			names = append(names, c.Page)
		}
		page.asked++
		hit, err := find.New(recordedPage(t, c.Page), nil).Find(find.Query{Text: c.Query, Action: c.Action})
		var noMatch *find.Error
		switch {
		case err == nil && hit.Node.Ref == c.Expect.Ref:
			right++
			page.right++
		case err == nil:
			page.wrong++
			t.Errorf("%s, %q: wrong element %s %q (%.2f, %s)", c.Page, c.Query, hit.Node.Ref, hit.Node.Name, hit.Score, hit.Why)
		case errors.As(err, &noMatch) && noMatch.Code == c.Expect.Error:
			right++
			page.right++
		default:
			page.none++
			t.Logf("%s, %q: %v", c.Page, c.Query, err)
		}
	}
	t.Logf("%d of %d right", right, all)
	for _, name := range names {
		p := pages[name]
		corpora.Report(t, corpora.Row{Table: "finder", Name: name, Tuned: true, Cells: []corpora.Cell{
			corpora.Number("queries", p.asked), corpora.Share("right", p.right, p.asked),
			corpora.Number("wrong", p.wrong), corpora.Number("none", p.none),
		}})
	}
	if right*100 < all*95 {
		t.Errorf("%d of %d right", right, all)
	}
}

func BenchmarkFind500Rows(b *testing.B) {
	if _, err := fs.Stat(corpora.Data(), "browser/snapshots/list500.yaml"); err != nil {
		b.Skip("needs the whole sets: set TOOLFIT_DATA")
	}
	page := recordedPage(b, "list500")
	for name, query := range map[string]string{
		"row": "Delete button in the row of User 250", "id": "edit user500@example.com", "ambiguous": "Edit", "missing": "delete User 9999",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				find.New(page, nil).Find(find.Query{Text: query, Action: find.Click})
			}
		})
	}
}
