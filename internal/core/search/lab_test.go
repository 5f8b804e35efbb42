package search

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"flag"
	"hash/fnv"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

var lab = flag.Bool("lab", false, "search the whole retrieval sets and check the numbers")

// labSet is a set of tools and of queries with the tools that each needs.
type labSet struct {
	Tools []struct {
		ID, Server, Name, Description, Path string
		InputSchema                         json.RawMessage
	}
	Queries []labQuery
}

type labQuery struct {
	ID, Text string
	Gold     [][]string // needed tools, each a list of ids that do equally well
}

// bar is what the plain BM25F baseline reaches on a set, and what it reaches with the past
// queries of half the set merged into the tools.
type bar struct{ r5, r10, hit, pastHit, pastR10 float64 }

var bars = map[string]bar{
	"metatool_single":   {.643, .699, .447, .595, .872},
	"metatool_multi":    {.640, .739, .455, .800, .929},
	"sealtools":         {.833, .914, .939, .939, .914},
	"restbench_tmdb":    {.491, .579, .400, .520, .837},
	"restbench_spotify": {.624, .801, .596, .630, .889},
}

func readSet(t testing.TB, name string) (*labSet, *Index) {
	t.Helper()
	raw, err := fs.ReadFile(corpora.Data(), "retrieval/"+name+".json")
	if err != nil {
		t.Skip(err) // there is no sample of every set
	}
	var s labSet
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return &s, New(Read(s.docs()))
}

//go:embed testdata/written.json.gz
var writtenSets []byte

// written are the names of the sets in writtenSets.
var written = []string{"written_en", "written_multi", "written_zh", "written_en_zh"}

// readWritten reads the sets that are written for this package; they share one index.
func readWritten(t testing.TB) (map[string]*labSet, *Index) {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(writtenSets))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		labSet
		Sets map[string][]labQuery
	}
	if err := json.NewDecoder(r).Decode(&all); err != nil {
		t.Fatal(err)
	}
	sets := map[string]*labSet{}
	for name, queries := range all.Sets {
		sets[name] = &labSet{all.Tools, queries}
	}
	return sets, New(Read(all.docs()))
}

func (s *labSet) docs() []Doc {
	var docs []Doc
	for _, d := range s.Tools {
		docs = append(docs, Doc{ID: d.ID, Name: d.Name, Path: d.Path, Server: d.Server, Description: d.Description, Schema: d.InputSchema})
	}
	return docs
}

// recall is what a set's queries find: the share of needed tools among the first 1, 5 and 10,
// and how often the first result is a needed one.
type recall struct{ r1, r5, r10, hit float64 }

func (s *labSet) measure(x *Index, m *Memory, queries []labQuery) recall {
	return s.measureWith(queries, func(text string) []Result {
		return x.Search(Query{Text: text, Limit: 10, Memory: m, Now: labTime})
	})
}

// oneOfSixty is one question of the smaller sets, which is chance.
const oneOfSixty = .017

// withoutModel searches by words alone.
func withoutModel(x *Index) func(string) []Result {
	return func(text string) []Result { return x.Search(Query{Text: text, Limit: 10, Vector: []float32{0}}) }
}

// plain25 is BM25F with the same terms and field weights, and nothing else.
func plain25(x *Index) func(string) []Result {
	return func(text string) []Result {
		s := &scores{x: x, total: make([]float32, x.Len())}
		for _, t := range count(text) {
			if id, ok := x.terms[t.term]; ok && !t.joined && !vague[t.term] {
				x.words.addTo(s.total, id, t.n)
			}
		}
		return s.best(10)
	}
}

func (s *labSet) measureWith(queries []labQuery, search func(text string) []Result) (sum recall) {
	for _, q := range queries {
		rank := map[string]int{}
		for i, r := range search(q.Text) {
			rank[s.Tools[r.Index].ID] = i + 1
		}
		share := 1 / float64(len(q.Gold)) / float64(len(queries))
		hit := false
		for _, same := range q.Gold {
			best := 11
			for _, id := range same {
				if r := rank[id]; r > 0 {
					best = min(best, r)
				}
			}
			for _, k := range []struct {
				most int
				sum  *float64
			}{{1, &sum.r1}, {5, &sum.r5}, {10, &sum.r10}} {
				if best <= k.most {
					*k.sum += share
				}
			}
			hit = hit || best == 1
		}
		if hit {
			sum.hit += 1 / float64(len(queries))
		}
	}
	return sum
}

var labTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// split divides the queries: one half has happened, the other is asked now.
func (s *labSet) split(most int) (past []Credit, now []labQuery) {
	kept := map[string]int{}
	for _, q := range s.Queries {
		h := fnv.New32a()
		h.Write([]byte("s" + q.ID))
		if h.Sum32()>>9%2 == 0 {
			now = append(now, q)
			continue
		}
		var before []string
		for _, same := range q.Gold {
			kept[same[0]]++
			if kept[same[0]] <= most {
				past = append(past, NewCredit(same[0], q.Text, before, labTime))
			}
			before = append(before, same[0])
		}
	}
	return past, now
}

// TestLab prints what the sets' queries find and holds the bars.
func TestLab(t *testing.T) {
	if !*lab {
		t.Skip("only with -lab")
	}
	t.Logf("%-18s %-26s %-14s %-21s %s", "set", "R@1/R@5/R@10 hit@1", "bars", "halves: none", "after 10, 30 credits a tool (bars)")
	for _, name := range []string{"metatool_single", "metatool_multi", "sealtools", "restbench_tmdb", "restbench_spotify"} {
		s, x := readSet(t, name)
		b := bars[name]
		all := s.measure(x, nil, s.Queries)
		past, now := s.split(10)
		none := s.measure(x, nil, now)
		ten := s.measure(x, NewMemory(past), now)
		past, _ = s.split(maxCredits)
		most := s.measure(x, NewMemory(past), now)
		t.Logf("%-18s %.3f/%.3f/%.3f %.3f (%.3f/%.3f %.3f)  hit@1/R@10 %.3f/%.3f  %.3f/%.3f  %.3f/%.3f (%.3f/%.3f)", strings.TrimPrefix(name, "restbench_"),
			all.r1, all.r5, all.r10, all.hit, b.r5, b.r10, b.hit, none.hit, none.r10, ten.hit, ten.r10, most.hit, most.r10, b.pastHit, b.pastR10)
		n := len(now)
		corpora.Report(t, corpora.Row{Table: "search memory", Name: name, Tuned: true, Cells: []corpora.Cell{
			corpora.Number("queries", n), corpora.Rate("none", none.r10, n), corpora.Rate("10 a tool", ten.r10, n),
			corpora.Rate("30 a tool", most.r10, n), corpora.Rate("plain BM25F", b.pastR10, n),
			corpora.Rate("first, none", none.hit, n), corpora.Rate("first, 30", most.hit, n),
			corpora.Rate("first, plain", b.pastHit, n),
		}})
		if all.r5 < b.r5 || all.r10 <= b.r10 || all.hit < b.hit {
			t.Errorf("%s: below the plain baseline", name)
		}
		if most.hit < b.pastHit || most.r10 < b.pastR10 || most.r10 < none.r10 {
			t.Errorf("%s: memory gains too little", name)
		}
	}
}

// labRow is what plain BM25F, the words and all together find in a set.
type labRow struct {
	name              string
	tools, queries    int
	plain, words, all recall
}

func newLabRow(name string, s *labSet, x *Index) labRow {
	return labRow{
		name, len(s.Tools), len(s.Queries),
		s.measureWith(s.Queries, plain25(x)), s.measureWith(s.Queries, withoutModel(x)), s.measure(x, nil, s.Queries),
	}
}

// cells are what make fit-report shows of a row.
func (r *labRow) cells() []corpora.Cell {
	n := r.queries
	return []corpora.Cell{
		corpora.Number("tools", r.tools), corpora.Number("queries", n), corpora.Rate("plain BM25F", r.plain.r10, n),
		corpora.Rate("words", r.words.r10, n), corpora.Rate("toolfit", r.all.r10, n),
		corpora.Rate("first, plain", r.plain.hit, n), corpora.Rate("first, words", r.words.hit, n),
		corpora.Rate("first, toolfit", r.all.hit, n),
	}
}

// TestLabLeaveOneOut prints, for every set, what plain BM25F, the words and all together find, and
// what all gain over plain on the average of the other sets: a change counts only if that rises.
func TestLabLeaveOneOut(t *testing.T) {
	if !*lab {
		t.Skip("only with -lab")
	}
	var rows []labRow
	add := func(name string, s *labSet, x *Index) { rows = append(rows, newLabRow(name, s, x)) }
	for _, name := range slices.Sorted(maps.Keys(bars)) {
		s, x := readSet(t, name)
		add(name, s, x)
	}
	sets, x := readWritten(t)
	for _, name := range written {
		add(name, sets[name], x)
	}
	t.Logf("%-18s %-13s %-13s %-13s %s", "R@10 hit@1", "plain BM25F", "words", "with model", "R@10 gained on the other sets: words, with model")
	for i, r := range rows {
		var words, all float64
		for k, o := range rows {
			if k != i {
				words += (o.words.r10 - o.plain.r10) / float64(len(rows)-1)
				all += (o.all.r10 - o.plain.r10) / float64(len(rows)-1)
			}
		}
		t.Logf("%-18s %.3f %.3f   %.3f %.3f   %.3f %.3f   %+.3f %+.3f", r.name, r.plain.r10, r.plain.hit, r.words.r10, r.words.hit, r.all.r10, r.all.hit, words, all)
		cells := append(r.cells(), corpora.Rate("gain elsewhere", all, 1))
		corpora.Report(t, corpora.Row{Table: "search", Name: r.name, Tuned: true, Cells: cells})
		if r.all.r10 <= r.plain.r10 || r.all.hit < r.plain.hit-oneOfSixty {
			t.Errorf("%s: below plain BM25F", r.name)
		}
	}
}

// TestLabOpenSets measures sets on which nothing was chosen.
func TestLabOpenSets(t *testing.T) {
	names, err := fs.Glob(corpora.Open(t), "retrieval/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		raw, err := fs.ReadFile(corpora.Open(t), name)
		if err != nil {
			t.Fatal(err)
		}
		var s labSet
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		r := newLabRow(strings.TrimSuffix(path.Base(name), ".json"), &s, New(Read(s.docs())))
		t.Logf("%s: R@10 %.3f, plain BM25F %.3f", r.name, r.all.r10, r.plain.r10)
		corpora.Report(t, corpora.Row{Table: "search", Name: r.name, Cells: r.cells()})
	}
}

// TestLabOfTenThousandTools holds what a search may cost. A query's time is the least of
// five, since the machine does other work too.
func TestLabOfTenThousandTools(t *testing.T) {
	if !*lab {
		t.Skip("only with -lab")
	}
	var before, after runtime.MemStats
	docs, queries := wide(t)
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	x := New(Read(docs))
	build := time.Since(start)
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(docs)
	size := (after.HeapAlloc - before.HeapAlloc) >> 20
	times := make([]time.Duration, len(queries))
	for i, q := range queries {
		times[i] = time.Hour
		for range 5 {
			start := time.Now()
			x.Search(Query{Text: q.Text, Limit: 10})
			times[i] = min(times[i], time.Since(start))
		}
	}
	slices.Sort(times)
	median := times[len(times)/2]
	t.Logf("10,000 tools: built in %v, %d MB; search %v in the median, %v at most", build, size, median, times[len(times)-1])
	if median > 3*time.Millisecond || build > 3*time.Second || size > 100 {
		t.Error("too slow or too large")
	}
}

func TestSearchIsBetterThanPlainOnWrittenSets(t *testing.T) {
	sets, x := readWritten(t)
	for _, name := range written {
		s := sets[name]
		got := s.measure(x, nil, s.Queries)
		if want := s.measureWith(s.Queries, plain25(x)); got.r10 < want.r10+.03 || got.hit < want.hit-oneOfSixty {
			t.Errorf("%s: R@10 %.3f, hit@1 %.3f; plain BM25F has %.3f, %.3f", name, got.r10, got.hit, want.r10, want.hit)
		}
	}
}

func TestSearchIsBetterThanPlainBM25F(t *testing.T) {
	for _, name := range []string{"restbench_tmdb", "sealtools"} {
		t.Run(name, func(t *testing.T) {
			s, x := readSet(t, name)
			if got, b := s.measure(x, nil, s.Queries), bars[name]; got.r5 < b.r5 || got.r10 < b.r10 || got.hit < b.hit {
				t.Errorf("got %.3f, want %.3f", got, b)
			}
		})
	}
}
