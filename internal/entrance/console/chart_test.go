package console

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

func stackOf(values ...[]float64) *stack {
	s := &stack{name: "calls", show: short, whole: true, values: values}
	for range values {
		s.classes = append(s.classes, "c-one")
		s.names = append(s.names, "a")
		s.paths = append(s.paths, "")
	}
	return s
}

func TestABurstIsCutOffSoThatTheRestCanBeRead(t *testing.T) {
	for _, c := range []struct {
		name   string
		totals []float64
		top    float64
		bursts []string
	}{
		{"no burst", []float64{3, 10, 7, 0, 9, 4}, 10, nil},
		{"one bar 100 times as high", append(make([]float64, 34), 10, 9, 1000, 8, 10, 7), 15, []string{"1k"}},
		{"two far apart", append(append(make([]float64, 30), 500, 5, 5, 5), append(make([]float64, 30), 700, 5)...), 6, []string{"500", "700"}},
		{"two side by side have one label", append(make([]float64, 56), 5, 5, 500, 700), 6, []string{"700"}},
		{"one bar in ten", slices.Repeat([]float64{5, 5, 5, 500, 5, 5, 5, 5, 5, 5}, 6), 6, []string{"500", "500", "500", "500", "500", "500"}},
		{"one that swells and fades", append(slices.Repeat([]float64{5}, 50), 10, 20, 60, 5, 5, 5, 5, 5, 5, 5), 6, []string{"60"}},
		{"a steady rise", append(slices.Repeat([]float64{5}, 50), 10, 15, 20, 30, 40, 50, 60, 70, 80, 90), 100, nil},
		{"high bars that are no exception", append(make([]float64, 10), 500, 500, 500, 500, 500, 5), 600, nil},
		{"one bar alone", []float64{0, 0, 4000, 0}, 4000, nil},
		{"nothing", []float64{0, 0, 0}, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			drawn := stackOf(c.totals).draw(locale.English, len(c.totals))
			top, _ := scaleOf(c.totals, true)
			var said []string
			for _, b := range drawn.Bursts {
				said = append(said, b.Text)
			}
			if top != c.top || strings.Join(said, " ") != strings.Join(c.bursts, " ") || (drawn.Breaks != "") != (c.bursts != nil) {
				t.Errorf("top %v, want %v; bursts %v, want %v; cut by %q", top, c.top, said, c.bursts, drawn.Breaks)
			}
		})
	}
}

func TestBarsAreStackedAndTheLastIsDrawnApart(t *testing.T) {
	drawn := stackOf([]float64{6, 0, 3}, []float64{3, 0, 6}).draw(locale.English, 3)
	if len(drawn.Layers) != 2 || drawn.Layers[0].Bars != "M1 48h8v72h-8z" || drawn.Layers[1].Bars != "M1 12h8v36h-8z" ||
		drawn.Layers[0].Last != "M21 84h8v36h-8z" || drawn.Layers[1].Last != "M21 12h8v72h-8z" {
		t.Errorf("%+v", drawn.Layers)
	}
}

// A page that is looked at is read again and again, and servers overtake each other.
func TestServersKeepTheirColors(t *testing.T) {
	colors := func(keys ...string) string {
		a := restapi.Activity{By: "server", Spans: make([]restapi.ActivitySpan, 1)}
		for _, key := range keys { // the first has the most calls
			a.Series = append(a.Series, restapi.ActivitySeries{Key: key, Calls: []int64{1}, Errors: []int64{0}})
		}
		calls, _ := seriesOf(locale.English, &a)
		var all []string
		for i, name := range calls.names {
			all = append(all, name+" "+calls.classes[i])
		}
		return strings.Join(all, ", ")
	}
	for _, keys := range [][]string{{"a", "b", "c"}, {"c", "a", "b"}} {
		if got := colors(keys...); got != "a c-one, b c-two, c c-three" {
			t.Errorf("%v: %s", keys, got)
		}
	}
	const want = "a c-one, b c-two, d c-three, e c-four, f c-five, 2 others c-others"
	if got := colors("f", "e", "d", "b", "a", "g", "c"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The smallest part is seen, and a bar stays within its box.
func TestWhatIsNotNothingIsSeen(t *testing.T) {
	s := stackOf([]float64{1_000_000}, []float64{1}, []float64{0})
	heights := s.heights(0, s.total(0), 1_000_001)
	if heights[1] < 1 || heights[2] != 0 || math.Round(heights[0]+heights[1]) != chartHeight {
		t.Errorf("%v", heights)
	}
}

func TestAxesHaveFewRoundTicks(t *testing.T) {
	for _, highest := range []float64{1, 2, 3, 7, 10, 99, 101, 4999, 1.2e6} {
		top, step := scaleOf([]float64{highest, highest}, true)
		if lines := top / step; top < highest || lines < 1 || lines > 4 || step < 1 || step != math.Round(step) {
			t.Errorf("%v: up to %v by %v", highest, top, step)
		}
	}
	now := time.Now()
	for name, length := range map[string]time.Duration{
		"15m": 15 * time.Minute, "1h": time.Hour, "6h": 6 * time.Hour, "24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour, "30d": 30 * 24 * time.Hour,
	} {
		a := restapi.Activity{Range: name, Since: now.Add(-length), Step: int(length/time.Second) / 60, Spans: make([]restapi.ActivitySpan, 60)}
		for _, lang := range locale.Languages() {
			if ticks, _ := axisOf(lang, &a); len(ticks) < 3 || len(ticks) > 8 {
				t.Errorf("%s has %d ticks: %v", name, len(ticks), ticks)
			}
		}
	}
}

func TestNumbersAtAnAxisAreShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 7: "7", 999: "999", 1000: "1k", 1500: "1.5k", 2_000_000: "2M", 123456: "123k"} {
		if got := short(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{0: "–", 10: "<10 ms", 37: "37 ms", 234: "230 ms", 1234: "1.2 s", 30_000: ">30 s"} {
		if got := tookAbout(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}
