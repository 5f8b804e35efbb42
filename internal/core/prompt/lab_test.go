package prompt

import (
	"cmp"
	"encoding/json"
	"flag"
	"maps"
	"path"
	"slices"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

var lab = flag.Bool("lab", false, "count the tokens of all catalogs and check the numbers")

// listed is a tool as the data has it.
type listed struct {
	Server, Name, Description string
	InputSchema               json.RawMessage
}

func (l listed) tool() Tool {
	return Tool{Name: l.Name, Server: l.Server, Description: l.Description, Schema: l.InputSchema}
}

// catalogs are the tool lists of real servers, by name.
func catalogs(t testing.TB) map[string][]Tool {
	t.Helper()
	all := map[string][]Tool{}
	for _, f := range corpora.Glob(t, "browser/tools/*.json") {
		var page struct{ Tools []listed }
		if err := json.Unmarshal(corpora.Read(t, f), &page); err != nil {
			t.Fatal(err)
		}
		name := "browser " + path.Base(f)
		for _, l := range page.Tools {
			all[name] = append(all[name], l.tool())
		}
	}
	for _, f := range corpora.Glob(t, "schemas/*_tools.jsonl") {
		for _, l := range corpora.Rows[listed](t, path.Base(f)) {
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
	all := catalogs(t)
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(len(all[b])-len(all[a]), cmp.Compare(a, b)) })
	var sum [4]int
	over := map[string]int{}
	for i, name := range names {
		n := [4]int{count(all[name], JSON), count(all[name], TypeScript), count(all[name], Signature), count(all[name], Markdown)}
		for k := range sum {
			sum[k] += n[k]
		}
		ts := float64(n[1]) / float64(n[0])
		sig := float64(n[2]) / float64(n[0])
		if i < 20 || name[0] == 'b' && len(name) > 8 && name[:8] == "browser " {
			t.Logf("%-40.40s %3d tools, JSON %6d, ts %.2f, sig %.2f, md %.2f", name, len(all[name]), n[0], ts, sig,
				float64(n[3])/float64(n[0]))
		}
		if ts > .8 {
			over["ts"]++
		}
		if sig > .3 {
			over["sig"]++
		}
	}
	ts := float64(sum[1]) / float64(sum[0])
	sig := float64(sum[2]) / float64(sum[0])
	t.Logf("all %d catalogs: JSON %d, ts %.3f, sig %.3f, md %.3f; over the bar: %v", len(names), sum[0], ts, sig,
		float64(sum[3])/float64(sum[0]), over)
	for i, format := range []Format{JSON, TypeScript, Signature, Markdown} {
		corpora.Report(t, corpora.Row{Table: "text", Name: string(format), Tuned: true, Cells: []corpora.Cell{
			corpora.Number("catalogs", len(names)), corpora.Number("tokens", sum[i]), corpora.Share("of JSON", sum[i], sum[0]),
		}})
	}
	if ts > .8 || sig > .3 {
		t.Error("too many tokens")
	}
}
