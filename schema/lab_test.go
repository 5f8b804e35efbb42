package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

var wholeLab = flag.Bool("lab", false, "measure every schema of the data folder instead of a sample")

// sample is one schema of a corpus with what is measured once for all dialects.
type sample struct {
	raw      []byte
	asserts  bool
	original *jsonschema.Schema
	values   []string // generated from the original
	good     []bool   // and whether the original takes them
	places   map[string]bool
	compiled map[string]*jsonschema.Schema
	seed     uint64
}

func newSample(t *testing.T, raw []byte, seed uint64, values int) *sample {
	original, err := compile(raw)
	asserts := bytes.Contains(raw, []byte("/draft-0")) // older drafts assert format
	s := &sample{raw: raw, asserts: asserts, original: original, seed: seed, places: paths(t, raw, true), compiled: map[string]*jsonschema.Schema{}}
	if err != nil { // as it stands; nothing can be held against it
		s.original = nil
		return s
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	for i := range values {
		x := generate(raw, rnd, i == 0)
		s.values = append(s.values, x)
		s.good = append(s.good, valid(original, []byte(x)))
	}
	return s
}

// compile gives equal outputs of several dialects one validator.
func (s *sample) compile(t *testing.T, parameters []byte) (*jsonschema.Schema, error) {
	if c := s.compiled[string(parameters)]; c != nil {
		return c, nil
	}
	parameters = plainNull(t, parameters)
	c, err := compileFor(parameters, s.asserts)
	s.compiled[string(parameters)] = c
	return c, err
}

// measure adds what the plan of one schema for one dialect is worth.
func (s *sample) measure(t *testing.T, r *row, d Dialect) {
	r.schemas++
	res, err := Plan(s.raw, d, nil)
	var refusal *Error
	if errors.As(err, &refusal) {
		r.refused[refusal.Reason]++
		r.wrong("refused: %v", err)
		return
	}
	again, _ := Plan(s.raw, d, nil)
	r.steady.add(again != nil && bytes.Equal(again.Parameters, res.Parameters))
	r.in = r.in + len(s.raw)
	r.out = r.out + len(res.Parameters)
	bad := Check(res.Parameters, res.Dialect)
	r.accepted.add(len(bad) == 0)
	converted, err := s.compile(t, res.Parameters)
	r.compiles.add(err == nil)
	if len(bad) > 0 || err != nil {
		r.wrong("not accepted: %v, %v: %.500s", bad, err, res.Parameters)
		return
	}
	r.dangling += dangling(t, res.Parameters)
	if res.Strict {
		r.strict++
	}
	if s.original == nil {
		r.apart++
		return
	}
	s.measurePaths(t, r, res)
	s.measureComplete(t, r, res, converted)
	s.measureSound(r, res, converted)
}

func (s *sample) measurePaths(t *testing.T, r *row, res *Result) {
	have := shownPaths(t, res)
	within := !slices.ContainsFunc(res.Report, func(c Change) bool { return c.Kind == TooMuch && strings.HasSuffix(c.Action, " 0 bytes") })
	for p, required := range s.places {
		must, there := have[p]
		r.all.add(there)
		if !within {
			continue // more than the budget can hold
		}
		r.paths.add(there)
		if !required && there {
			r.forced.add(!must)
		}
		if !there || must && !required {
			r.wrong("path %s there %v forced %v\nfor %.700s\nfrom %.700s", p, there, must && !required, res.Parameters, s.raw)
		}
	}
}

func (s *sample) measureComplete(t *testing.T, r *row, res *Result, converted *jsonschema.Schema) {
	hit := false
	for i, x := range s.values {
		r.ceiling.add(s.good[i])
		if !s.good[i] || x[0] != '{' {
			continue
		}
		y, err := res.Forward([]byte(x))
		ok := err == nil && valid(converted, y)
		if !ok && has(res.Report, Discriminated) {
			continue // a value that names another branch than it fits, which JSON Schema cannot see
		}
		hit = hit || !ok
		if res.Strict {
			r.tight.add(ok)
		} else {
			r.complete.add(ok)
		}
		if !ok {
			r.wrong("incomplete: %.300s becomes %.300s, %v\nfor %.900s\nfrom %.900s", x, y, validate(converted, y), res.Parameters, s.raw)
		}
		back, _, err := res.Back(y)
		same := err == nil && (sameJSON(t, string(back), x) || res.Strict && sameJSON(t, withoutNulls(t, string(back)), withoutNulls(t, x)))
		if r.trip.add(same); !same {
			r.wrong("round trip: %.300s becomes %.300s and comes back as %.300s, %v\nfor %.700s", x, y, back, err, res.Parameters)
		}
	}
	if hit {
		r.hit++
	}
}

func (s *sample) measureSound(r *row, res *Result, converted *jsonschema.Schema) {
	rnd := rand.New(rand.NewPCG(s.seed, 1))
	for i := range s.values {
		x := generate(res.Parameters, rnd, i == 0)
		back, _, err := res.Back([]byte(x))
		bad := validate(s.original, back)
		if r.sound.add(err == nil && bad == nil); err == nil && bad == nil || !valid(converted, []byte(x)) {
			continue
		}
		clear := err != nil || told(bad, res.Report) // what Back refuses it refuses by name
		if r.told.add(clear); !clear {
			r.wrong("unsound: %.300s comes back as %.300s, %v %v\nfor %.900s\nfrom %.900s", x, back, err, bad, res.Parameters, s.raw)
		}
	}
}

// laboratory measures one corpus, two schemas at a time.
func laboratory(t *testing.T, schemas []json.RawMessage, values int) map[Dialect]*row {
	total := map[Dialect]*row{}
	for d := range dialects {
		total[d] = &row{refused: map[Reason]int{}}
	}
	var (
		wait sync.WaitGroup
		lock sync.Mutex
	)
	for worker := range 2 {
		wait.Go(func() {
			mine := map[Dialect]*row{}
			for d := range dialects {
				mine[d] = &row{refused: map[Reason]int{}}
			}
			for i := worker; i < len(schemas); i += 2 {
				s := newSample(t, schemas[i], uint64(i), values)
				for d := range dialects {
					s.measure(t, mine[d], d)
				}
			}
			lock.Lock()
			defer lock.Unlock()
			for d, r := range mine {
				total[d].join(r)
			}
		})
	}
	wait.Wait()
	return total
}

// TestLab measures what the fitted schemas are worth; -lab takes every schema there is.
func TestLab(t *testing.T) {
	for _, file := range corpora.Tools {
		schemas := corpora.Schemas(t, file)
		if !*wholeLab {
			schemas = every(schemas, 30)
		}
		openapi := strings.HasPrefix(file, "openapi")
		values := 6
		if openapi {
			values = 4
		}
		rows := laboratory(t, schemas, values)
		fmt.Fprintf(os.Stdout, "\n%s\n"+rowHead, strings.TrimSuffix(file, filepath.Ext(file)), "dialect", "schemas", "apart", "refused", "compile", "dangling", "accept",
			"strict", "sound", "silent", "ceiling", "complete", "hit", "(strict)", "forced", "paths", "all", "trip", "size", "why refused")
		for _, d := range dialectNames() {
			fmt.Fprintf(os.Stdout, "%-16s %s\n", d, rows[d])
			corpora.Report(t, corpora.Row{
				Table: "schema " + strings.TrimSuffix(file, ".jsonl"), Name: string(d), Tuned: true, Cells: rows[d].cells(d),
			})
			if missed := rows[d].bars(d, openapi); len(missed) > 0 {
				t.Errorf("%s, %s misses: %s", file, d, strings.Join(missed, ", "))
				for _, w := range rows[d].first[:min(len(rows[d].first), 3)] {
					t.Log(w)
				}
			}
		}
	}
}

// TestLabCalls sends the calls of open sets through every dialect and back.
func TestLabCalls(t *testing.T) {
	sets, calls := corpora.Calls(t)
	table := map[Dialect]*corpora.Row{}
	for _, d := range dialectNames() {
		table[d] = &corpora.Row{Table: "schema calls", Name: string(d)}
	}
	for _, set := range sets {
		samples := map[string]*sample{}
		for i, c := range calls[set] {
			s := samples[string(c.Schema)]
			if s == nil {
				s = newSample(t, c.Schema, uint64(i), 0)
				samples[string(c.Schema)] = s
			}
			s.values = append(s.values, string(c.Arguments))
			s.good = append(s.good, s.original != nil && c.Declared() && valid(s.original, c.Arguments))
		}
		for _, d := range dialectNames() {
			r := &row{refused: map[Reason]int{}}
			for _, s := range samples {
				s.measure(t, r, d)
			}
			ok := r.complete
			ok.join(r.tight)
			t.Logf("%s, %s: %d of %d are taken, %d of %d come back", set, d, ok.held, ok.of, r.trip.held, r.trip.of)
			table[d].Cells = append(table[d].Cells, corpora.Share(set, min(ok.held, r.trip.held), ok.of))
		}
	}
	for _, d := range dialectNames() {
		corpora.Report(t, *table[d])
	}
}

// every takes n of the list, evenly.
func every(list []json.RawMessage, n int) []json.RawMessage {
	var out []json.RawMessage
	for i := 0; i < len(list); i += max(1, len(list)/n) {
		out = append(out, list[i])
	}
	return out
}

func dialectNames() []Dialect {
	var out []Dialect
	for d := range dialects {
		out = append(out, d)
	}
	slices.Sort(out)
	return out
}

func has(report []Change, kind Kind) bool {
	return slices.ContainsFunc(report, func(c Change) bool { return c.Kind == kind })
}
