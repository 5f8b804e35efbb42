package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// score counts how often a law held.
type score struct{ held, of int }

// row is what is measured of one dialect on one corpus.
type row struct {
	schemas, apart, strict, dangling, hit                                 int
	refused                                                               map[Reason]int
	compiles, accepted, sound, told, ceiling, complete, tight, paths, all score
	trip, forced, steady                                                  score
	in, out                                                               int
	first                                                                 []string // the first things that went wrong
}

const rowHead = "%-16s %7s %5s %8s %8s %8s %7s %8s %8s %8s %8s %8s %5s %8s %7s %8s %8s %7s %6s %s\n"

func (s *score) add(ok bool) {
	s.of++
	if ok {
		s.held++
	}
}

func (s *score) join(o score) {
	s.held = s.held + o.held
	s.of = s.of + o.of
}

func (s score) percent() float64 {
	if s.of == 0 {
		return 100
	}
	return 100 * float64(s.held) / float64(s.of)
}

func (r *row) join(o *row) {
	r.schemas = r.schemas + o.schemas
	r.apart = r.apart + o.apart
	r.strict = r.strict + o.strict
	r.dangling = r.dangling + o.dangling
	r.hit = r.hit + o.hit
	r.in = r.in + o.in
	r.out = r.out + o.out
	for reason, n := range o.refused {
		r.refused[reason] += n
	}
	mine := []*score{&r.compiles, &r.accepted, &r.sound, &r.told, &r.ceiling, &r.complete, &r.tight, &r.paths, &r.all, &r.trip, &r.forced, &r.steady}
	for i, s := range []score{o.compiles, o.accepted, o.sound, o.told, o.ceiling, o.complete, o.tight, o.paths, o.all, o.trip, o.forced, o.steady} {
		mine[i].join(s)
	}
	r.first = append(r.first, o.first...)
}

func (r *row) wrong(format string, args ...any) {
	r.first = append(r.first, fmt.Sprintf(format, args...))
}

func (r *row) String() string {
	pct := func(v float64) string { return fmt.Sprintf("%.2f", v) }
	refused := 0
	var why []string
	for reason, n := range r.refused {
		refused += n
		why = append(why, fmt.Sprintf("%s %d", reason, n))
	}
	slices.Sort(why)
	return fmt.Sprintf("%7d %5d %8d %8s %8d %7s %8s %8s %8s %8s %8s %5d %8s %7s %8s %8s %7s %6.2f %s", r.schemas, r.apart, refused, pct(r.compiles.percent()), r.dangling,
		pct(r.accepted.percent()), pct(100*float64(r.strict)/float64(max(1, r.schemas))), pct(r.sound.percent()), strconv.Itoa(r.told.of-r.told.held), pct(r.ceiling.percent()),
		pct(r.complete.percent()), r.hit, pct(r.tight.percent()), pct(100-r.forced.percent()), pct(r.paths.percent()), pct(r.all.percent()), pct(r.trip.percent()),
		float64(r.out)/float64(max(1, r.in)), strings.Join(why, ", "))
}

// cells are what make fit-report shows of a row.
func (r *row) cells(d Dialect) []corpora.Cell {
	refused := 0
	for _, n := range r.refused {
		refused += n
	}
	complete := r.complete
	complete.join(r.tight)
	share := func(name string, s score) corpora.Cell { return corpora.Share(name, s.held, s.of) }
	cells := []corpora.Cell{
		corpora.Number("schemas", r.schemas), corpora.Number("refused", refused), share("accepted", r.accepted),
		corpora.Number("dangling", r.dangling),
		share("sound", r.sound), share("at best", r.ceiling), corpora.Number("silent", r.told.of-r.told.held), share("complete", complete),
		share("comes back", r.trip), share("paths", r.all), corpora.Share("size", r.out, r.in),
	}
	if strings.HasSuffix(string(d), "-strict") {
		cells = append(cells, corpora.Share("strict", r.strict, r.schemas))
	}
	return cells
}

// bars are the numbers that every row must reach.
func (r *row) bars(d Dialect, openapi bool) []string {
	refused := 0
	for _, n := range r.refused {
		refused += n
	}
	most := 0.005
	if openapi {
		most = 0.01
	}
	var missed []string
	for _, bar := range []struct {
		name string
		ok   bool
	}{
		{"compiles", r.compiles.percent() == 100}, {"dangling", r.dangling == 0}, {"accepted", r.accepted.percent() == 100},
		{"refused", float64(refused) <= most*float64(r.schemas)}, {"silent", d == Inlined || r.told.percent() == 100}, {"sound", !dialects[d].raw || d == Inlined || r.sound.percent() >= r.ceiling.percent()-0.05},
		{"complete", d == Inlined || r.complete.percent() >= 99.9}, {"strict complete", r.tight.percent() >= 99},
		{"forced", r.forced.percent() == 100}, {"paths", d == Inlined || r.paths.percent() >= 99}, {"round trip", r.trip.percent() == 100},
		{"two runs equal", r.steady.percent() == 100},
	} {
		if !bar.ok {
			missed = append(missed, bar.name)
		}
	}
	return missed
}
