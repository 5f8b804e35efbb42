package main

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

const source = `
"""Tools."""
from typing import Annotated, List, Literal, Optional, Union

Cabin = Literal["business", "economy"]  # a comment, with a [
Named = Annotated[
    Literal["a", "b"], Field(description="x")
]

class Mode(str, Enum):
    FOUR = "4g"
    THREE = "3g"  # old

class Base(BaseModel):
    """Text with a def f(): in it."""
    id: str = Field(description="an id (with, commas = and more)")

class Flight(Base):
    number: int
    date: str = Field(
        description="a date, such as '2024-05-01'."
    )
    seats: Optional[int] = Field(
        None, description="seats"
    )

class Tools(ToolKitBase):
    db: DB

    def _hidden(self, x: str) -> str:
        return x

    @is_tool(ToolType.WRITE)
    def book(
        self,
        user: str,
        cabin: Cabin,
        flights: List[Flight | dict],
        mode: Union[Mode, None] = None,
        much: float = 1.5,
        more: Dict[str, Any] = {},
    ) -> Flight:
        """Book."""
        return "@is_tool("

    # @is_tool(ToolType.THINK)
    # def think(self, thought: str) -> str:

    @is_discoverable_tool(ToolType.READ, mutates_state=False)
    def list_all(self) -> str: # nothing
        return ""
`

func TestToolsAreReadFromTheirSignatures(t *testing.T) {
	p := newPython()
	p.read(source)
	for name, want := range map[string]string{
		"book": `{"properties":{"cabin":{"enum":["business","economy"]},"flights":{"items":{"anyOf":[{"properties":{"date":{"type":"string"},"id":{"type":"string"},` +
			`"number":{"type":"integer"},"seats":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"required":["date","id","number"],"type":"object"},` +
			`{"type":"object"}]},"type":"array"},"mode":{"anyOf":[{"enum":["4g","3g"]},{"type":"null"}]},"more":{"additionalProperties":{},` +
			`"type":"object"},"much":{"type":"number"},"user":{"type":"string"}},"required":["cabin","flights","user"],"type":"object"}`,
		"list_all": `{"properties":{},"required":[],"type":"object"}`,
	} {
		if got, known := p.tool(name); !known || string(got) != want {
			t.Errorf("%s: got %s", name, got)
		}
	}
	for _, name := range []string{"_hidden", "think"} {
		if _, known := p.tool(name); known {
			t.Errorf("%s is no tool", name)
		}
	}
	if len(p.unknown) > 0 {
		t.Errorf("unknown: %v", p.unknown)
	}
}

func FuzzStatements(f *testing.F) {
	f.Add(source)
	f.Add(`"""`)
	f.Fuzz(func(t *testing.T, text string) {
		p := newPython()
		p.read(text)
		for name := range p.tools {
			p.tool(name)
		}
	})
}

// repository is a git repository with these files.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "all"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Skipf("git %v: %v %s", args, err, out)
		}
	}
	return dir
}

func TestOpenSetsBecomeCallsAndQueries(t *testing.T) {
	const domain, nestful = "src/tau2/domains/airline/", "data/executable/executable"
	tau2 := repository(t, map[string]string{
		domain + "tools.py": source,
		"data/tau2/domains/airline/tasks.json": `[{"evaluation_criteria":{"actions":[{"name":"book","arguments":{"user": "u"}},` +
			`{"name":"gone","arguments":{}}]}},{"evaluation_criteria":null}]`,
		"data/tau2/results/final/m_airline_x.json": `{"simulations":[{"messages":[{"role":"user"},{"tool_calls":[{"name":"list_all","arguments":{}}]}]}]}`,
	})
	other := repository(t, map[string]string{
		nestful + "-spec.json": `[{"name":"f","description":"d","query_parameters":{"n":{"type":"Number","required":true,"allowed_values":"1-9"}},` +
			`"output_parameters":{"m":{"type":"Integer"},"o":"string"}},{"name":"f","arguments":{}}]`,
		nestful + "-data.json": `[{"input":"do","output":[{"name":"f","arguments":{"n":2},"label":"var1"},` +
			`{"name":"f","arguments":{"n":"$var1.m$"},"label":"var2"},{"name":"f","arguments":{"n":"$var1.m$ + 1"}},{"name":"var_result"}]}]`,
	})
	sets, dir := openSets(), t.TempDir()
	if err := locate(sets, "tau2="+tau2+" nestful="+other); err != nil {
		t.Fatal(err)
	}
	if err := readSets(sets, dir); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TOOLFIT_OPEN_SETS", dir)
	_, calls := corpora.Calls(t)
	var got []string
	for _, set := range []string{"τ² airline", "τ² airline, replayed", "NESTFUL executable"} {
		for _, c := range calls[set] {
			got = append(got, c.Tool+string(c.Arguments))
		}
	}
	if want := `book{"user":"u"} list_all{} f{"n":2} f{"n":12}`; strings.Join(got, " ") != want {
		t.Errorf("got %v", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "retrieval/nestful_executable.json")); err != nil {
		t.Error(err)
	}
	page, err := (&report{Sets: sets}).page()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 calls of gone", "reckon with what others return", "| mcpproxy-go | github.com/smart-mcp-proxy/mcpproxy-go | MIT | not measured |",
		"mcpproxy-go: it was not named by SETS", "where `053cbde0446d` is meant", "glaive-data.json"} {
		if !strings.Contains(page, want) && !strings.Contains(page, strings.Replace(want, "-data", "-spec", 1)) {
			t.Errorf("no %q in %s", want, page)
		}
	}
}

func TestSetsMustBeNamedAndThere(t *testing.T) {
	for _, folders := range []string{"nobody=.", "tau2=" + filepath.Join(t.TempDir(), "none"), "tau2"} {
		if err := locate(openSets(), folders); err == nil {
			t.Errorf("%s is taken", folders)
		}
	}
}

func TestWithoutDataItSaysWhatIsMissing(t *testing.T) {
	if err := haveData(""); err == nil || !strings.Contains(err.Error(), "TOOLFIT_DATA") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

// small is a report with a little of everything.
func small() *report {
	share := corpora.Share
	return &report{Date: "2026-01-02", Commit: "abc", Machine: "a machine", Sets: openSets(), Fails: []string{"`TestX`"}, Rows: []corpora.Row{
		{Table: "schema openapi_ops_dev", Name: "openai <&>", Tuned: true, Cells: []corpora.Cell{
			corpora.Number("schemas", 1234), share("sound", 99999, 100000), share("at best", 1, 1), share("complete", 9, 10)}},
		{Table: "schema calls", Name: "mcp", Cells: []corpora.Cell{share("τ² retail", 1, 2)}},
		{Table: "search", Name: "a set", Cells: []corpora.Cell{corpora.Rate("plain BM25F", .9, 10), corpora.Rate("toolfit", .8, 10)}},
		{Table: "finder", Name: "table", Cells: []corpora.Cell{corpora.Number("queries", 5), corpora.Number("wrong", 0)}},
		{Table: "finder", Name: "icons", Cells: []corpora.Cell{corpora.Number("queries", 5), corpora.Number("wrong", 1), corpora.Number("none", 0)}},
	}}
}

func TestThePageKeepsWhatOthersWrote(t *testing.T) {
	docs := t.TempDir()
	file := filepath.Join(docs, "benchmarks.md")
	if err := os.Mkdir(filepath.Join(docs, "images"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("above\n"+after+"below\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // writing it again changes nothing
		if err := small().write(docs); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	if !strings.HasPrefix(got, "above\n"+after+"\n"+begin) || !strings.HasSuffix(got, end+"below\n") || strings.Count(got, begin) != 1 {
		t.Errorf("got %s", got)
	}
	for _, want := range []string{
		"| openai <&> † | 1,234 | 99.99 % | 100 % | 90.0 % |", "does not: openai <&> † 90.0 %", "fewer needed tools than plain BM25F finds: a set 80.0 % (plain BM25F 90.0 %)",
		"when they come back: mcp, τ² retail: 50.0 %", "another element: icons 1", "| table | 5 | 0 | – |", "whole set: `TestX`",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if strings.Contains(got, "beyond its own: openai") {
		t.Error("a figure within its mark is listed")
	}
}

func TestAPageWithoutMarksIsLeftAlone(t *testing.T) {
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "benchmarks.md"), []byte("somebody's own page\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := small().write(docs); err == nil {
		t.Error("it was overwritten")
	}
}

func TestChartsAreWellFormed(t *testing.T) {
	for _, r := range []*report{small(), {}} {
		for name, svg := range r.charts() {
			in := xml.NewDecoder(strings.NewReader(svg))
			for {
				if _, err := in.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatalf("%s: %v in %s", name, err, svg)
				}
			}
			if !strings.Contains(svg, "prefers-color-scheme:dark") || strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("%s: %s", name, svg)
			}
		}
	}
}

func TestLabsReportRows(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows")
	t.Setenv("TOOLFIT_REPORT", file)
	corpora.Report(t, corpora.Row{Table: "a", Cells: []corpora.Cell{corpora.Number("n", 1)}})
	corpora.Report(t, corpora.Row{Table: "b", Tuned: true})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var row corpora.Row
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 2 || json.Unmarshal([]byte(lines[0]), &row) != nil || row.Cells[0].Held != 1 {
		t.Errorf("got %s", text)
	}
}
