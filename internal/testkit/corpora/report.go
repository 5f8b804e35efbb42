package corpora

import (
	"encoding/json"
	"os"
	"testing"
)

// Row is one line of a table that make fit-report puts on its page.
type Row struct {
	Table string
	Name  string
	Tuned bool // rules were written or weights chosen on these data
	Cells []Cell
}

// Cell is one figure of a row: Held of Of, or Held alone where Of is 0.
type Cell struct {
	Name     string
	Held, Of float64
}

// Share is how many of how many.
func Share(name string, held, of int) Cell { return Cell{name, float64(held), float64(of)} }

// Number is a figure that is no share of anything.
func Number(name string, n int) Cell { return Cell{Name: name, Held: float64(n)} }

// Rate is a mean share over so many.
func Rate(name string, rate float64, of int) Cell { return Cell{name, rate * float64(of), float64(of)} }

// Report appends what a lab has measured to the file that TOOLFIT_REPORT names. Without one nobody asked.
func Report(t testing.TB, rows ...Row) {
	t.Helper()
	name := os.Getenv("TOOLFIT_REPORT")
	if name == "" {
		return
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out := json.NewEncoder(file)
	for _, row := range rows {
		if err := out.Encode(row); err != nil {
			t.Fatal(err)
		}
	}
}
