package fit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// tally counts what became of one kind of mistake.
type tally struct {
	asked, repaired, wrong, passed, told, silent int
}

// keyLab measures how keys and levels are mended. Tools are in two halves, by server: rules were tuned on
// the first only.
type keyLab struct {
	t      *testing.T
	rows   map[string]*[2]tally
	kinds  map[string]int // what became of extra keys
	shown  map[string]int
	extras []extra
	clean  [2]tally // undamaged arguments; repaired: left alone
}

// extra is a property of some tool, with a value.
type extra struct{ server, name, value string }

type keyTool struct {
	server, name string
	half         int
	tool         *Tool
}

// blow is a mistake of a model: it returns the damaged arguments and the key that it concerns, or "".
type blow struct {
	name string
	make func(k *keyTool, t *tape, all []site, r *rand.Rand) (bad, key string)
}

func (l *keyLab) judge(k *keyTool, x *blow, t *tape, all []site, r *rand.Rand) {
	bad, key := x.make(k, t, all, r)
	if bad == "" || samePlain([]byte(bad), t.data) {
		return
	}
	row := l.rows[x.name]
	if row == nil {
		row = &[2]tally{}
		l.rows[x.name] = row
	}
	n := &row[k.half]
	res, err := k.tool.Fit(l.t.Context(), []byte(bad))
	n.asked++
	outcome := ""
	trap := strings.HasPrefix(x.name, "trap")
	if err == nil && !trap && !slices.Equal(leaves(res.Args), leaves(t.data)) {
		l.t.Errorf("values are lost: %s became %s", bad, res.Args)
	}
	var no *Error
	switch {
	case err == nil && samePlain(res.Args, t.data):
		n.repaired++
	case err == nil && (samePlain(res.Args, []byte(bad)) || samePlain([]byte(`{"params":`+string(res.Args)+`}`), []byte(bad))):
		n.passed++ // or one of two mistakes is left
		outcome = "passed"
	case err == nil:
		n.wrong++
		outcome = "wrong"
	case errors.As(err, &no) && slices.ContainsFunc(no.Problems, func(p Problem) bool { return strings.Contains(p.Hint, key) }):
		n.told++
		outcome = "told"
	default:
		n.silent++
		outcome = "silent"
	}
	show := os.Getenv("TOOLFIT_LAB_SHOW") // outcomes of which examples are shown, of the first half
	if outcome != "" && strings.Contains(show, outcome) && k.half == 0 && l.shown[x.name+outcome] < 40 {
		l.shown[x.name+outcome]++
		l.t.Logf("%s: %s %s\nbad  %.400s\nfrom %.400s\ngot  %.400s %.600v\nfor %.700s", outcome, x.name, key, bad, t.data, res.Args, err,
			k.tool.Schema())
	}
}

// leaves lists the values that hold no others, in order of their bytes.
func leaves(raw []byte) (out []string) {
	t := &tape{}
	if t.read(raw) != nil {
		return nil
	}
	for i := range t.tokens {
		if t.tokens[i].kind < isArray {
			out = append(out, string(t.raw(int32(i))))
		}
	}
	slices.Sort(out)
	return out
}

// stranger adds a key that some other tool has, which this one may well know what to do with.
func (l *keyLab) stranger(k *keyTool, t *tape, all []site, r *rand.Rand) {
	if _, _, excluded := under(plenty(), all[0].flat, "zzUnknown"); excluded || len(l.extras) == 0 {
		return
	}
	e := l.extras[r.IntN(len(l.extras))]
	if isKnown(plenty(), all[0].flat, e.name) {
		return
	}
	bad := splice(t, 0, addMember(t, &all[0], quoted(e.name)+":"+e.value))
	if !verdict(k.tool.schema.root, bad) {
		return
	}
	res, err := k.tool.Fit(l.t.Context(), bad)
	row := l.rows[extraRow]
	if row == nil {
		row = &[2]tally{}
		l.rows[extraRow] = row
	}
	n := &row[k.half]
	n.asked++
	switch {
	case err != nil:
		n.silent++
	case string(res.Args) == string(bad):
		n.repaired++
	default:
		n.wrong++
		for _, rep := range res.Repairs {
			l.kinds[fmt.Sprintf("%s %s: %s → %s", []string{"tuned", "held out"}[k.half], rep.Kind, cut(rep.From, 60), cut(rep.To, 60))]++
		}
	}
}

func (l *keyLab) run(k *keyTool, seed uint64, rounds int) {
	d := k.tool.schema.read()
	r := rand.New(rand.NewPCG(seed, 5))
	for n := range rounds {
		args := arguments(d, r, n == 0)
		t := &tape{}
		if args == "" || !verdict(d.root, []byte(args)) || t.read([]byte(args)) != nil {
			continue
		}
		res, err := k.tool.Fit(l.t.Context(), []byte(args))
		c := &l.clean[k.half]
		c.asked++
		if err == nil && string(res.Args) == args && len(res.Repairs) == 0 {
			c.repaired++
		} else {
			l.t.Errorf("%s is not left alone: %s %v", args, res.Args, err)
		}
		l.strike(k, t, r)
		all := sites(d, t)
		for range 10 {
			l.stranger(k, t, all, r)
		}
	}
}

// strike makes each mistake in arguments that are right.
func (l *keyLab) strike(k *keyTool, t *tape, r *rand.Rand) {
	all := sites(k.tool.schema.read(), t)
	for _, list := range [][]blow{blows, traps} {
		for i := range list {
			l.judge(k, &list[i], t, all, r)
		}
	}
}

// report gives the rows to make fit-report: mistakes, each for both halves, and traps.
func (l *keyLab) report() {
	share := func(name string, n, of int) corpora.Cell { return corpora.Share(name, n, of) }
	for _, x := range append(slices.Clone(blows), traps...) {
		if l.rows[x.name] == nil {
			continue
		}
		tuned, out := l.rows[x.name][0], l.rows[x.name][1]
		row := corpora.Row{Table: "keys", Name: x.name, Cells: []corpora.Cell{
			share("tuned half †", tuned.repaired, tuned.asked), corpora.Number("asked", out.asked), share("mended", out.repaired, out.asked),
			share("refused, key named", out.told, out.asked), share("refused", out.silent, out.asked), share("passed on", out.passed, out.asked),
			corpora.Number("mended wrongly", out.wrong),
		}}
		if name, is := strings.CutPrefix(x.name, "trap: "); is {
			row = corpora.Row{Table: "traps", Name: name, Cells: []corpora.Cell{
				corpora.Number("asked", out.asked), share("refused", out.told+out.silent, out.asked), share("passed on", out.passed, out.asked),
				corpora.Number("mended wrongly", out.wrong),
			}}
		}
		corpora.Report(l.t, row)
	}
}

func (l *keyLab) show() {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%-52s %6s %8s %6s %6s %6s %6s\n", "", "asked", "repaired", "wrong", "passed", "told", "silent")
	names := []string{}
	for _, list := range [][]blow{blows, traps} {
		for _, x := range list {
			names = append(names, x.name)
		}
	}
	for _, name := range append(names, extraRow) {
		for half, word := range []string{"tuned", "held out"} {
			if row := l.rows[name]; row != nil {
				n := row[half]
				fmt.Fprintf(&b, "%-52s %6d %7.1f%% %6d %6d %6d %6d  %s\n", name, n.asked, 100*float64(n.repaired)/float64(max(1, n.asked)), n.wrong,
					n.passed, n.told, n.silent, word)
			}
		}
	}
	fmt.Fprintf(&b, "undamaged and left alone: %d of %d, %d of %d\n", l.clean[0].repaired, l.clean[0].asked, l.clean[1].repaired,
		l.clean[1].asked)
	kinds := []string{}
	for k, n := range l.kinds {
		kinds = append(kinds, fmt.Sprintf("%4d %s", n, k))
	}
	slices.Sort(kinds)
	slices.Reverse(kinds)
	fmt.Fprintf(&b, "%s\n", strings.Join(kinds[:min(len(kinds), 150)], "\n"))
	l.t.Log(b.String())
}

// labTools are the tools of the corpora, each distinct schema once.
func labTools(t *testing.T, every int) []*keyTool {
	var tools []*keyTool
	seen := map[string]bool{}
	n := 0
	for _, file := range corpora.Tools {
		for _, row := range corpora.Rows[struct {
			Server, Doc, Name, OperationID string
			InputSchema                    json.RawMessage
		}](t, file) {
			if seen[string(row.InputSchema)] {
				continue
			}
			seen[string(row.InputSchema)] = true
			n++
			if n%every != 0 {
				continue
			}
			tools = append(tools, &keyTool{server: row.Server + row.Doc, name: cmp.Or(row.Name, row.OperationID, "tool"),
				half: half(row.Server + row.Doc), tool: compiled(t, string(row.InputSchema), nil)})
		}
	}
	return tools
}

// TestKeyLab measures a sample by default, every tool with TOOLFIT_LAB=full.
func TestKeyLab(t *testing.T) {
	every := 12
	rounds := 2
	if os.Getenv("TOOLFIT_LAB") == "full" {
		every = 1
		rounds = 3
	}
	l := &keyLab{t: t, rows: map[string]*[2]tally{}, kinds: map[string]int{}, shown: map[string]int{}}
	tools := labTools(t, every)
	r := rand.New(rand.NewPCG(1, 1))
	for _, k := range tools {
		tp := &tape{}
		if args := arguments(k.tool.schema.read(), r, true); args != "" && tp.read([]byte(args)) == nil {
			for c := tp.first(0); c >= 0; c = tp.after(c) {
				l.extras = append(l.extras, extra{k.server, tp.name(c), string(tp.raw(c))})
			}
		}
	}
	for n, k := range tools {
		l.run(k, uint64(n), rounds)
	}
	l.show()
	l.report()
	for name, row := range l.rows {
		n := tally{asked: row[0].asked + row[1].asked, repaired: row[0].repaired + row[1].repaired, wrong: row[0].wrong + row[1].wrong}
		if n.wrong > 0 && name != extraRow || n.repaired*100 < n.asked*atLeast[name] {
			t.Errorf("%s: %+v", name, n)
		}
	}
}
