package project_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

var lab = flag.Bool("lab", false, "cut more results, and print what is left of them at several budgets")

var show = flag.String("show", "", "print what is left of the results of this name")

// TestLabBudgets prints what budgets leave of results as servers give them: how many tokens, how many
// rows, and how many of the values that a later call may need. Such a value is drawn at random: first
// a row, then one of its short plain values, those of identifying columns three times as often; of
// objects in the row only what identifies them. Hashes, addresses and measurements are not drawn.
func TestLabBudgets(t *testing.T) {
	if !*lab {
		t.Skip("only with -lab")
	}
	budgets := []int{500, 2000, 8000}
	kept := map[int][]float64{}
	plain := map[int]float64{}
	over := map[int]int{}
	fmt.Printf("%-28s %8s", "result", "tokens")
	for _, b := range budgets {
		fmt.Printf(" | %6d: of it  rows  needed", b)
	}
	fmt.Println()
	for _, s := range labResults(t) {
		raw := []byte(text(s.text))
		full := exact(t, s.text)
		fmt.Printf("%-28s %8d", s.name, full)
		for _, budget := range budgets {
			cut := project.Plan(context.Background(), raw, project.How{Budget: budget})
			out := cut.Apply("r_7x9qzw4k")
			n := project.CountTokens(out, tokens.Count)
			if n > budget {
				over[budget]++
			}
			if *show != "" && strings.HasPrefix(s.name, *show) {
				fmt.Printf("\n%s in %d:\n%s\n", s.name, budget, project.Text(out))
			}
			share := needed(s, project.Text(out))
			if full > budget {
				kept[budget] = append(kept[budget], share)
				plain[budget] += needed(s, firstTokens(s.text, budget))
			}
			fmt.Printf(" |       %6.2f %5d  %6.1f", float64(n)/float64(budget), rowsIn(project.Text(out)), 100*share)
		}
		fmt.Println()
	}
	for _, b := range budgets {
		sum := 0.0
		for _, x := range kept[b] {
			sum += x
		}
		n := len(kept[b])
		fmt.Printf("budget %5d: %d results are over it; of these %.1f %% of the needed values are kept on average, %.1f %% by a plain cut\n",
			b, n, 100*sum/float64(n), 100*plain[b]/float64(n))
		fmt.Printf("results over their budget after it: %d\n", over[b])
		corpora.Report(t, corpora.Row{Table: "budgets", Name: fmt.Sprint(b, " tokens"), Tuned: true, Cells: []corpora.Cell{
			corpora.Number("results over it", n), {Name: "still there", Held: sum, Of: float64(n)},
			{Name: "plain cut", Held: plain[b], Of: float64(n)},
			corpora.Number("too long after it", over[b]),
		}})
	}
}

// firstTokens is what a plain cut leaves of a text.
func firstTokens(text string, budget int) string {
	n := sort.Search(len(text), func(n int) bool { return tokens.Count(text[:n]) > budget })
	return text[:max(0, n-1)]
}

// labResult is a text that a server gives.
type labResult struct {
	name, text string
	values     func(r *rand.Rand) string // draws a needed value
}

const draws = 400

// needed is the share of values that a later call may need which the shown text has.
func needed(s labResult, shown string) float64 {
	r := rand.New(rand.NewPCG(7, 8))
	found := 0
	for range draws {
		if hasWord(shown, s.values(r)) {
			found++
		}
	}
	return float64(found) / draws
}

// hasWord reports whether the text has the value, and not as a part of a longer word.
func hasWord(text, value string) bool {
	edge := func(b byte) bool {
		return !(b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z')
	}
	for from := 0; ; {
		i := strings.Index(text[from:], value)
		if i < 0 {
			return false
		}
		start := from + i
		end := start + len(value)
		if (start == 0 || edge(text[start-1])) && (end == len(text) || edge(text[end])) {
			return true
		}
		from = start + 1
	}
}

var (
	noValue     = regexp.MustCompile(`^[a-z]+://|^www\.|^[0-9a-f]{20,}$|^[A-Za-z0-9+/_=-]{40,}$`)
	identifying = regexp.MustCompile(`(?i)(^|_)(id|key|name|title|number|login|path|state|status|type|date|time|at|email|code|ref|label)s?$` +
		`|(Id|Key|Name|Title|Number|Path|State|Status|Type|Date|Time|At)$`)
)

// scalar is a short plain value with how often it is drawn.
type scalar struct {
	text   string
	weight int
}

// scalarsOf lists the values of a row that a later call may need. depth counts the objects on the way.
func scalarsOf(key string, value any, depth int, list []scalar) []scalar {
	weight := 1
	switch named := identifying.MatchString(key); {
	case named && depth == 1:
		weight = 3
	case !named && depth > 1:
		weight = 0
	}
	add := func(text string) {
		if weight > 0 {
			list = append(list, scalar{text, weight})
		}
	}
	switch v := value.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			list = scalarsOf(k, v[k], depth+1, list)
		}
	case []any:
		for _, e := range v {
			if _, isNumber := e.(json.Number); !isNumber {
				list = scalarsOf(key, e, depth, list)
			}
		}
	case json.Number:
		add(v.String())
	case string:
		if v != "" && len(v) <= 80 && !noValue.MatchString(v) && !strings.ContainsAny(v, "\n\"\\") && key != "node_id" {
			add(v)
		}
	}
	return list
}

func sortedKeys(m map[string]any) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// drawFrom draws first a row, then a value of it.
func drawFrom(rows [][]scalar) func(*rand.Rand) string {
	rows = slices.DeleteFunc(rows, func(row []scalar) bool { return len(row) == 0 })
	return func(r *rand.Rand) string {
		row := rows[r.IntN(len(rows))]
		sum := 0
		for _, s := range row {
			sum += s.weight
		}
		at := r.IntN(sum)
		for _, s := range row {
			at -= s.weight
			if at < 0 {
				return s.text
			}
		}
		return ""
	}
}

// rowsOfValue are the rows of a value: the elements of its largest array, or itself.
func rowsOfValue(v any) []any {
	best := []any{v}
	var find func(v any)
	find = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, k := range sortedKeys(v) {
				find(v[k])
			}
		case []any:
			if len(v) > len(best) {
				best = v
			}
		}
	}
	find(v)
	return best
}

// rowsIn counts the rows of what is shown, with those that the note lists: of JSON the elements of the
// largest arrays, else lines.
func rowsIn(shown string) int {
	text, note, _ := strings.Cut(shown, "\n{\"_omitted\"")
	v, err := decodeNumbers(text)
	if err != nil {
		return strings.Count(shown, "\n")
	}
	listed, _ := decodeNumbers(`{"_omitted"` + note)
	if object, ok := v.(map[string]any); ok && note == "" {
		listed = object["_omitted"]
		delete(object, "_omitted")
	}
	n := len(rowsOfValue(v))
	if object, ok := listed.(map[string]any); ok {
		if _, inner := object["_omitted"]; inner {
			object = object["_omitted"].(map[string]any)
		}
		if others, ok := object["others"].(map[string]any); ok {
			n += len(others["rows"].([]any))
		}
	}
	return n
}

func decodeNumbers(text string) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}
