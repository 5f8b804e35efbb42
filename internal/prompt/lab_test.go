package prompt

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

var lab = flag.Bool("lab", false, "count the tokens of all catalogues and check the numbers")

// listed is a tool as the data has it.
type listed struct {
	Server, Name, Description string
	InputSchema               json.RawMessage
}

func (l listed) tool() Tool {
	return Tool{Name: l.Name, Server: l.Server, Description: l.Description, Schema: l.InputSchema}
}

// catalogues are the tool lists of real servers, by name.
func catalogues(t testing.TB) map[string][]Tool {
	t.Helper()
	dir := os.Getenv("TOOLFIT_DATA")
	if dir == "" {
		t.Skip("TOOLFIT_DATA names no folder with tool lists")
	}
	all := map[string][]Tool{}
	files, err := filepath.Glob(filepath.Join(dir, "browser", "tools", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skip("no tool lists in TOOLFIT_DATA")
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var page struct{ Tools []listed }
		if err := json.Unmarshal(raw, &page); err != nil {
			t.Fatal(err)
		}
		for _, l := range page.Tools {
			all["browser "+filepath.Base(f)] = append(all["browser "+filepath.Base(f)], l.tool())
		}
	}
	files, _ = filepath.Glob(filepath.Join(dir, "schemas", "*_tools.jsonl"))
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(bytes.NewReader(raw))
		lines.Buffer(nil, 1<<22)
		for lines.Scan() {
			var l listed
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				t.Fatal(err)
			}
			all[l.Server] = append(all[l.Server], l.tool())
		}
	}
	return all
}

// TestLabTokens holds what the formats cost beside the OpenAI JSON of the same tools.
func TestLabTokens(t *testing.T) {
	if !*lab {
		t.Skip("only with -lab")
	}
	enc, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	count := func(tools []Tool, f Format) int {
		page, err := Render(tools, &Options{Format: f})
		if err != nil {
			t.Fatal(err)
		}
		n, err := enc.Count(page.Text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	all := catalogues(t)
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(len(all[b])-len(all[a]), cmp.Compare(a, b)) })
	var sum [4]int
	over := map[string]int{}
	for i, name := range names {
		n := [4]int{count(all[name], JSON), count(all[name], TypeScript), count(all[name], Signature), count(all[name], Markdown)}
		for k := range sum {
			sum[k] += n[k]
		}
		ts, sig := float64(n[1])/float64(n[0]), float64(n[2])/float64(n[0])
		if i < 20 || name[0] == 'b' && len(name) > 8 && name[:8] == "browser " {
			t.Logf("%-40.40s %3d tools, JSON %6d, ts %.2f, sig %.2f, md %.2f", name, len(all[name]), n[0], ts, sig, float64(n[3])/float64(n[0]))
		}
		if ts > .8 {
			over["ts"]++
		}
		if sig > .3 {
			over["sig"]++
		}
	}
	ts, sig := float64(sum[1])/float64(sum[0]), float64(sum[2])/float64(sum[0])
	t.Logf("all %d catalogues: JSON %d, ts %.3f, sig %.3f, md %.3f; over the bar: %v", len(names), sum[0], ts, sig, float64(sum[3])/float64(sum[0]), over)
	if ts > .8 || sig > .3 {
		t.Error("too many tokens")
	}
}
