package scan

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// labelled is an entry of the corpora of mcpproxy-go.
type labelled struct {
	ID          string
	Label       string
	Category    string
	Description string
	Server      string
	Tool        json.RawMessage
	Peers       []struct {
		Server string
		Tool   struct{ Name, Description string }
	}
}

// TestRecallOnALabelledCorpus reads the corpora of github.com/smart-mcp-proxy/mcpproxy-go, folder
// specs/065-evaluation-foundation/datasets, from $TOOLFIT_SCAN_CORPUS.
func TestRecallOnALabelledCorpus(t *testing.T) {
	dir := os.Getenv("TOOLFIT_SCAN_CORPUS")
	if dir == "" {
		t.Skip("TOOLFIT_SCAN_CORPUS names no folder with labelled definitions")
	}
	for _, file := range []string{"detect_corpus_v1.json", "security_corpus_v1.json"} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		var corpus struct{ Entries []labelled }
		if err := json.Unmarshal(text, &corpus); err != nil {
			t.Fatal(err)
		}
		var bad, found, good, wrong int
		for _, e := range corpus.Entries {
			if e.Tool == nil {
				e.Tool = rawjson.Encode(map[string]string{"name": "tool", "description": e.Description})
			}
			name, _ := rawjson.String(rawjson.Get(e.Tool, "name"))
			own := []string{name}
			var others []Tool
			for _, p := range e.Peers {
				if p.Server == e.Server {
					own = append(own, p.Tool.Name)
				} else {
					others = append(others, Tool{p.Tool.Name, p.Tool.Description, true})
				}
			}
			findings := Definition(e.Tool, NewNames(own, others))
			is := Suspicious(findings)
			switch e.Label {
			case "malicious":
				bad++
				if is {
					found++
				} else {
					t.Logf("missed: %s (%s)", e.ID, e.Category)
				}
			case "benign":
				good++
				if is {
					wrong++
					t.Logf("held: %s (%s)", e.ID, e.Category)
				}
			}
		}
		t.Logf("%s: %d of %d attacks found, %d of %d others held", file, found, bad, wrong, good)
		name := "mcpproxy-go: " + strings.TrimSuffix(file, ".json")
		corpora.Report(t, corpora.Row{Table: "scan", Name: name, Tuned: true, Cells: []corpora.Cell{
			corpora.Number("attacks", bad), corpora.Share("found", found, bad), corpora.Number("harmless", good), corpora.Share("held", wrong, good),
		}})
		if found*100 < bad*95 {
			t.Errorf("%s: found %d of %d attacks", file, found, bad)
		}
	}
}

// row is a tool of a list.
type row struct {
	Server, Name, Description string
	raw                       json.RawMessage
}

// heldOf is how many of the tools are suspicious among each other.
func heldOf(t *testing.T, rows []row) (held int) {
	own := map[string][]string{}
	for _, r := range rows {
		own[r.Server] = append(own[r.Server], r.Name)
	}
	for i, r := range rows {
		var others []Tool
		for j, o := range rows {
			if o.Server != r.Server {
				others = append(others, Tool{o.Name, o.Description, j < i})
			}
		}
		if findings := Definition(r.raw, NewNames(own[r.Server], others)); Suspicious(findings) {
			held++
			t.Logf("%s %s: %v", r.Server, r.Name, findings)
		}
	}
	return held
}

// TestFewRealToolsAreSuspicious reads the tool lists of $TOOLFIT_DATA.
func TestFewRealToolsAreSuspicious(t *testing.T) {
	dir := os.Getenv("TOOLFIT_DATA")
	if dir == "" {
		t.Skip("TOOLFIT_DATA names no folder with tool lists")
	}
	const together = 200 // tools, of about 30 servers
	for _, file := range []string{
		"schemas/toucan_mcp_tools.jsonl", "schemas/docker_mcp_registry_tools.jsonl", "browser/tools/0.0.83-allcaps.json",
		"retrieval/metatool_single.json", "retrieval/sealtools.json", "retrieval/restbench_tmdb.json", "retrieval/restbench_spotify.json",
	} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		list := rawjson.Get(text, "tools")
		if strings.HasSuffix(file, ".jsonl") {
			list = []byte("[" + strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", ",") + "]")
		}
		var rows []row
		w := rawjson.Array(list)
		for w.Next() {
			r := row{raw: w.Value}
			if err := json.Unmarshal(r.raw, &r); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, r)
		}
		if w.Err() != nil || len(rows) == 0 {
			t.Fatalf("%s: %d tools, %v", file, len(rows), w.Err())
		}
		held := 0
		for at := 0; at < len(rows); at += together {
			held += heldOf(t, rows[at:min(len(rows), at+together)])
		}
		t.Logf("%s: %d of %d held", file, held, len(rows))
		corpora.Report(t, corpora.Row{Table: "scan", Name: strings.TrimSuffix(file, filepath.Ext(file)), Tuned: true, Cells: []corpora.Cell{
			corpora.Number("harmless", len(rows)), corpora.Share("held", held, len(rows)),
		}})
		if held*100 > len(rows)*2 {
			t.Errorf("%s: %d of %d tools are suspicious", file, held, len(rows))
		}
	}
}
