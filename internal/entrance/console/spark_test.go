package console

import "testing"

func TestAChartDrawsTheMinuteThatRunsApart(t *testing.T) {
	for _, c := range []struct {
		name                string
		values              []float64
		line, area, running string
	}{
		{"a busy hour whose last minute has just begun", []float64{10, 10, 10, 0}, "0.0,2.0 80.0,2.0 160.0,2.0",
			"0,40 0.0,2.0 80.0,2.0 160.0,2.0 160.0,40", "160.0,2.0 240.0,39.0"},
		{"the first minute of a gateway", []float64{0, 0, 4}, "0.0,39.0 120.0,39.0", "0,40 0.0,39.0 120.0,39.0 120.0,40", "120.0,39.0 240.0,2.0"},
		{"nothing at all", []float64{0, 0}, "0.0,39.0", "0,40 0.0,39.0 0.0,40", "0.0,39.0 240.0,39.0"},
		{"results that grew count as nothing saved", []float64{-5, -5}, "0.0,39.0", "0,40 0.0,39.0 0.0,40", "0.0,39.0 240.0,39.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := newSpark("calls", c.values); got != (spark{"calls", c.line, c.area, c.running}) {
				t.Errorf("%+v", got)
			}
		})
	}
	newSpark("no minute", nil) // nothing to draw is no reason to fall
}
