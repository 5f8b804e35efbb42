package find_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
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

func dataFolder(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("TOOLFIT_DATA")
	if dir == "" {
		t.Skip("needs TOOLFIT_DATA, the folder with recorded snapshots")
	}
	return filepath.Join(dir, "browser")
}

func recordedPage(t testing.TB, dir, name string) *snapshot.Page {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "snapshots", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.Parse(string(data))
}

func TestLabeledQueriesFindTheirElementAndNeverAnother(t *testing.T) {
	dir := dataFolder(t)
	file, err := os.Open(filepath.Join(dir, "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	right, all := 0, 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c labeled
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		all++
		hit, err := find.New(recordedPage(t, dir, c.Page), nil).Find(find.Query{Text: c.Query, Action: c.Action})
		var noMatch *find.Error
		switch {
		case err == nil && hit.Node.Ref == c.Expect.Ref:
			right++
		case err == nil:
			t.Errorf("%s, %q: wrong element %s %q (%.2f, %s)", c.Page, c.Query, hit.Node.Ref, hit.Node.Name, hit.Score, hit.Why)
		case errors.As(err, &noMatch) && noMatch.Code == c.Expect.Error:
			right++
		default:
			t.Logf("%s, %q: %v", c.Page, c.Query, err)
		}
	}
	t.Logf("%d of %d right", right, all)
	if right*100 < all*95 {
		t.Errorf("%d of %d right", right, all)
	}
}

func BenchmarkFind500Rows(b *testing.B) {
	page := recordedPage(b, dataFolder(b), "list500")
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
