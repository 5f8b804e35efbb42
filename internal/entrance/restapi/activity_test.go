package restapi

import "testing"

func TestAQuantileIsBetweenTheDurationsThatAreToldApart(t *testing.T) {
	counts := func(from int, n int64) []int64 { // n calls, all at the edge of that number or below
		all := make([]int64, 11)
		for i := from; i < len(all); i++ {
			all[i] = n
		}
		return all
	}
	half := counts(0, 50) // 50 below 10 ms, and 50 between 200 and 500
	for i := 5; i < len(half); i++ {
		half[i] = 100
	}
	for _, c := range []struct {
		name  string
		calls int64
		under []int64
		share float64
		want  float64
	}{
		{"no calls", 0, make([]int64, 11), 0.5, 0},
		{"all very short", 10, counts(0, 10), 0.95, 10},
		{"all very long", 10, make([]int64, 11), 0.5, 30_000},
		{"all between 100 and 200 ms", 100, counts(4, 100), 1, 200},
		{"half of those", 100, counts(4, 100), 0.5, 141},
		{"short ones up to the half", 100, half, 0.5, 10},
		{"long ones beyond it", 100, half, 0.95, 456},
	} {
		if got := quantile(c.calls, c.under, c.share); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
