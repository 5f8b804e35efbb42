package fit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// score counts how often a law held.
type score struct{ held, of int }

func (s *score) add(ok bool) {
	s.of++
	if ok {
		s.held++
	}
}

func (s score) String() string {
	if s.of == 0 {
		return "none"
	}
	return fmt.Sprintf("%.2f %% of %d", 100*float64(s.held)/float64(s.of), s.of)
}

// lab measures one corpus.
type lab struct {
	t                           *testing.T
	identity, sound, differs    score
	restored, refused           map[string]*score
	allRestored, allRefused     score
	shownRestored, shownRefused int
}

func (l *lab) run(raw []byte, seed uint64, rounds int) {
	judge, err := oracle(raw)
	if err != nil {
		return
	}
	tool, err := Compile(raw, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	d := tool.schema.read()
	r := rand.New(rand.NewPCG(seed, 3))
	for k := range rounds {
		args := arguments(d, r, k == 0)
		if args == "" {
			continue
		}
		if l.same(judge, d, []byte(args)) {
			continue
		}
		l.try(judge, tool, args, r)
	}
}

// try fits arguments that are right, and what is left of them after each damage.
func (l *lab) try(judge *jsonschema.Schema, tool *Tool, args string, r *rand.Rand) {
	res, err := tool.Fit(context.Background(), []byte(args))
	l.identity.add(err == nil && string(res.Args) == args && len(res.Repairs) == 0)
	t := &tape{}
	if err := t.read([]byte(args)); err != nil {
		l.t.Fatal(err)
	}
	all := sites(tool.schema.read(), t)
	for _, x := range repairable {
		l.repair(judge, tool, t, all, x, r)
	}
	for _, x := range final {
		l.refuse(judge, tool, t, all, x, r)
	}
}

// cells are what make fit-report shows.
func (l *lab) cells() []corpora.Cell {
	share := func(name string, s score) corpora.Cell { return corpora.Share(name, s.held, s.of) }
	return []corpora.Cell{
		corpora.Number("calls", l.identity.of), share("left alone", l.identity),
		corpora.Number("mistakes", l.allRestored.of), share("mended", l.allRestored),
		corpora.Number("hopeless", l.allRefused.of), share("refused", l.allRefused), share("valid", l.sound),
		share("verdicts alike", l.differs),
	}
}

// same asks both validators, and tells whether they agree that the arguments are wrong.
func (l *lab) same(judge *jsonschema.Schema, d *document, args []byte) bool {
	ours := verdict(d.root, args)
	theirs := valid(judge, args)
	l.differs.add(ours == theirs)
	if ours != theirs {
		l.t.Errorf("we say %v, the oracle %v: %.400s\nfor %.1500s", ours, theirs, args, d.raw)
	}
	return !ours && !theirs
}

// broken picks a site that the damage applies to.
func broken(t *tape, all []site, x damage, r *rand.Rand) ([]byte, *site) {
	for _, k := range r.Perm(len(all)) {
		if cuts := x.make(t, &all[k], r); len(cuts) > 0 {
			return splice(t, 0, cuts), &all[k]
		}
	}
	return nil, nil
}

func (l *lab) repair(judge *jsonschema.Schema, tool *Tool, t *tape, all []site, x damage, r *rand.Rand) {
	bad, s := broken(t, all, x, r)
	if bad == nil || !l.same(judge, tool.schema, bad) {
		return
	}
	res, err := tool.Fit(context.Background(), bad)
	ok := err == nil && samePlain(res.Args, t.data)
	if l.restored[x.name] == nil {
		l.restored[x.name] = &score{}
	}
	l.restored[x.name].add(ok)
	l.allRestored.add(ok)
	if err == nil {
		l.sound.add(valid(judge, res.Args))
	}
	if !ok && l.shownRestored < 12 {
		l.shownRestored++
		l.t.Logf("%s at %s is not undone: %.300s\nfrom %.300s\ngot  %.300s, %v\nfor %.900s", x.name, s.at, bad, t.data, res.Args, err,
			tool.Schema())
	}
}

func (l *lab) refuse(judge *jsonschema.Schema, tool *Tool, t *tape, all []site, x damage, r *rand.Rand) {
	bad, s := broken(t, all, x, r)
	if bad == nil || !l.same(judge, tool.schema, bad) {
		return
	}
	res, err := tool.Fit(context.Background(), bad)
	var no *Error
	ok := errors.As(err, &no) && slices.ContainsFunc(no.Problems, func(p Problem) bool {
		if x.name == "unknown key" {
			return p.Field == s.at+"/zzUnknown" || slices.Contains(s.unions, p.Field)
		}
		return p.Field == s.at || slices.Contains(s.unions, p.Field)
	})
	if l.refused[x.name] == nil {
		l.refused[x.name] = &score{}
	}
	l.refused[x.name].add(ok)
	l.allRefused.add(ok)
	if err == nil {
		l.sound.add(valid(judge, res.Args))
	}
	if !ok && l.shownRefused < 12 {
		l.shownRefused++
		l.t.Logf("%s at %s is not refused there: %.300s\ngot %.300s, %v\nfor %.900s", x.name, s.at, bad, res.Args, err, tool.Schema())
	}
}

func (l *lab) show(name string) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: identity %s; restored %s; refused at the right place %s; repaired values valid %s; verdicts alike %s\n",
		name, l.identity, l.allRestored, l.allRefused, l.sound, l.differs)
	for _, x := range repairable {
		if s := l.restored[x.name]; s != nil {
			fmt.Fprintf(&b, "  %-55s restored %s\n", x.name, s)
		}
	}
	for _, x := range final {
		if s := l.refused[x.name]; s != nil {
			fmt.Fprintf(&b, "  %-55s refused  %s\n", x.name, s)
		}
	}
	l.t.Log(b.String())
}

// TestLab measures the corpora: a sample by default, every schema with TOOLFIT_LAB=full.
func TestLab(t *testing.T) {
	for _, file := range corpora.Tools {
		t.Run(strings.TrimSuffix(file, ".jsonl"), func(t *testing.T) {
			schemas := corpora.Schemas(t, file)
			every := max(1, len(schemas)/80)
			rounds := 2
			if os.Getenv("TOOLFIT_LAB") == "full" {
				every = 1
				rounds = 4
			}
			l := &lab{t: t, restored: map[string]*score{}, refused: map[string]*score{}}
			for i := 0; i < len(schemas); i += every {
				l.run(schemas[i], uint64(i), rounds)
			}
			l.show(file)
			corpora.Report(t, corpora.Row{Table: "arguments", Name: strings.TrimSuffix(file, ".jsonl"), Tuned: true, Cells: l.cells()})
			if l.identity.held != l.identity.of || l.sound.held != l.sound.of || l.allRefused.held != l.allRefused.of ||
				l.allRestored.held*100 < l.allRestored.of*98 {
				t.Error("a law does not hold")
			}
		})
	}
}
