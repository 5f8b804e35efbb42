package scriptlab

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/toolfit/toolfit/internal/core/script"
	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

var (
	lab     = flag.Bool("lab", false, "show every turn, and the table")
	update  = flag.Bool("update", false, "write the table in docs/scripts.md anew")
	profile = flag.String("profile", "", "more keys of all profiles, such as shape: json; the table is not held then")
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == script.Argument {
		syscall.Exit(script.Main(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// job is something that a person asks for, and what a good model does about it.
type job struct {
	name    string
	task    string // as the person says it
	servers string // of the configuration
	tools   int    // how many these have
	uses    []string
	queries []string // with which a model finds the tools that it uses
	// steps makes the calls, and returns the answer as JSON. Calls that need nothing of each other are made in one turn.
	steps func(turn func(...call) []string) string
	reads []string // tools that declare what they return: the script uses fields of it
	looks []string // scripts that look at what other tools return; each needs the one before
	// script does the job, and returns the answer; or what the answer is taken from, where that is little.
	script string
	taken  func(returned string) string
}

// The ways in which a job is done, which are also the names of the profiles.
const (
	asList   = "list"
	asSearch = "search"
	asScript = "script"
)

// do does the job in one way, and returns the answer.
func (j *job) do(m *model, way string) string {
	m.t.Helper()
	if way == asList {
		return j.steps(m.turn)
	}
	j.find(m)
	if way == asSearch {
		return j.steps(func(calls ...call) []string {
			wrapped := make([]call, len(calls))
			for i, c := range calls {
				wrapped[i] = call{"call_tool", `{"name":` + quote(c.name) + `,"arguments":` + c.args + `}`}
			}
			return m.turn(wrapped...)
		})
	}
	var types []call
	for _, name := range j.reads {
		types = append(types, call{"describe_tool", `{"name":` + quote(name) + `,"detail":"ts"}`})
	}
	m.turn(types...)
	for _, code := range j.looks {
		m.turn(runs(code))
	}
	returned := m.turn(runs(j.script))[0]
	if j.taken != nil {
		return j.taken(returned)
	}
	return returned
}

func runs(code string) call { return call{"run_script", `{"code":` + quote(code) + `}`} }

// find searches for the tools, which must be found.
func (j *job) find(m *model) {
	m.t.Helper()
	var searches []call
	for _, q := range j.queries {
		searches = append(searches, call{"find_tools", `{"query":` + quote(q) + `}`})
	}
	found := strings.Join(m.turn(searches...), "\n")
	for _, name := range j.uses {
		if !strings.Contains(found, `"name":"`+name+`"`) {
			m.t.Errorf("%s is not found by %q", name, j.queries)
		}
	}
}

// same tells whether two answers in JSON are the same.
func same(t *testing.T, a, b string) bool {
	var values [2]any
	for i, text := range []string{a, b} {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber() // no digit is lost
		if err := d.Decode(&values[i]); err != nil {
			t.Errorf("an answer is no JSON: %v: %.200s", err, text)
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// TestLabScripts does all jobs in all ways: the answers are the same, and the costs are those that are published.
func TestLabScripts(t *testing.T) {
	var table strings.Builder
	table.WriteString("| job | way | turns | calls | definitions | results | written | read in all | one call a turn |\n" +
		"|---|---|--:|--:|--:|--:|--:|--:|--:|\n")
	sums := map[string]*cost{asList: {}, asSearch: {}, asScript: {}}
	row := func(name, way string, c *cost) {
		fmt.Fprintf(&table, "| %s | %s | %d | %d | %s | %s | %s | %s | %s |\n", name, way, c.turns, c.calls,
			thousands(c.definitions), thousands(c.results), thousands(c.written), thousands(c.read), thousands(c.serial))
	}
	for _, j := range append(demoJobs(), nestfulJobs(t)...) {
		first := ""
		name := j.name
		for _, way := range []string{asList, asSearch, asScript} {
			t.Run(j.name+"/"+way, func(t *testing.T) {
				m := newModel(t, way, &j)
				answer := j.do(m, way)
				if way == asList {
					first = answer
				}
				if !same(t, answer, first) {
					t.Errorf("the answer is %s\nand as a list  %s", answer, first)
				}
				m.answer(first) // in the same words in all ways
				row(name, way, &m.cost)
				sums[way].add(m.cost)
			})
			name = ""
		}
	}
	name := "**all ten**"
	for _, way := range []string{asList, asSearch, asScript} {
		row(name, way, sums[way])
		name = ""
		c := sums[way]
		corpora.Report(t, corpora.Row{Table: "scripts", Name: way, Tuned: true, Cells: []corpora.Cell{
			corpora.Number("turns", c.turns), corpora.Number("calls", c.calls), corpora.Number("results", c.results),
			corpora.Number("written", c.written),
			corpora.Number("read in all", c.read), corpora.Number("one call a turn", c.serial),
		}})
	}
	if *lab {
		t.Log("\n" + table.String())
	}
	if !t.Failed() && *profile == "" {
		published(t, table.String())
	}
}

func (c *cost) add(more cost) {
	c.turns += more.turns
	c.calls += more.calls
	c.definitions += more.definitions
	c.results += more.results
	c.written += more.written
	c.read += more.read
	c.serial += more.serial
}

// published holds the table on the page.
func published(t *testing.T, table string) {
	const page, start = "../../../docs/scripts.md", "| job | way |"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), start)
	if !found {
		t.Fatalf("%s has no table", page)
	}
	_, after, _ := strings.Cut(rest, "\n\n")
	switch got := before + table + "\n" + after; {
	case got == string(text):
		return
	case *update:
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table in %s is another one; run this test with -update. It is now:\n%s", page, table)
	}
}

// thousands writes 12345 as 12,345.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
