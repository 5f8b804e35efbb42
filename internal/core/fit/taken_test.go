package fit

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

const sorted = `{"type":"object","properties":{"sort":{"type":"string","enum":["asc","desc"]},
"by":{"anyOf":[{"enum":["name","date"]},{"type":"null"}]},"list":{"type":"array","items":{"enum":["a","b"]}},
"in":{"type":"object","properties":{"sort":{"enum":["up","down"]}}},"n":{"enum":[1,2]},"kind":{"const":"x"},"limit":{"type":"integer","maximum":9}}}`

func TestWhatAToolHasTakenIsAcceptedWithAWarning(t *testing.T) {
	taken := &Taken{}
	light := compiled(t, sorted, &Options{Validation: Light, Taken: taken})
	strict := compiled(t, sorted, &Options{Taken: taken})
	try := func(args string) string {
		res, err := strict.Fit(t.Context(), []byte(args))
		if err != nil {
			return "refused"
		}
		return string(res.Args) + strings.Join(res.Warn, "|")
	}
	for _, args := range []string{`{"sort":"random"}`, `{"by":"size"}`, `{"list":["a","c"]}`, `{"sort":"DESC"}`, `{"in":{"sort":"random"}}`} {
		if got := try(args); strings.Contains(got, "taken") {
			t.Errorf("before: %s: %s", args, got)
		}
	}
	strict.Took(t.Context(), []byte(`{"sort":"other"}`)) // which it cannot have
	for _, args := range []string{
		`{"sort":"random"}`, `{"by":"size"}`, `{"list":["a","c"]}`, `{"sort":"DESC"}`, `{"n":"three"}`, `{"kind":"y"}`, `{"sort":"odd","limit":10}`,
		`{"sort":"` + strings.Repeat("x", 200) + `"}`, `no JSON`, ``,
	} {
		light.Took(t.Context(), []byte(args))
	}
	for args, want := range map[string]string{
		`{"sort":"random"}`:             `{"sort":"random"}/sort: the tool does not list string "random", but has taken it before`,
		`{"sort":"random","limit":"3"}`: `{"sort":"random","limit":3}/sort: the tool does not list string "random", but has taken it before`,
		`{"by":"size"}`:                 `{"by":"size"}/by: the tool does not list string "size", but has taken it before`,
		`{"list":["c","b"]}`:            `{"list":["c","b"]}/list/0: the tool does not list string "c", but has taken it before`,
		`{"sort":"asc"}`:                `{"sort":"asc"}`,
		`{"sort":"DESC"}`:               `{"sort":"desc"}`,
		`{"sort":"other"}`:              "refused",
		`{"sort":"odd"}`:                "refused",
		`{"by":"random"}`:               "refused",
		`{"in":{"sort":"random"}}`:      "refused",
		`{"in":"{'sort': 'random'}"}`:   "refused",
		`{"n":"three"}`:                 "refused",
		`{"kind":"y"}`:                  "refused",
	} {
		if got := try(args); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

func TestWhatAToolHasTakenIsBounded(t *testing.T) {
	taken := &Taken{}
	light := compiled(t, sorted, &Options{Validation: Light, Taken: taken})
	strict := compiled(t, sorted, &Options{Taken: taken})
	var work sync.WaitGroup
	for n := range 4 {
		work.Go(func() {
			for i := range 2 * maxTaken {
				args := fmt.Appendf(nil, `{"sort":"v%d-%d"}`, n, i)
				light.Took(t.Context(), args)
				_, _ = strict.Fit(t.Context(), args)
			}
		})
	}
	work.Wait()
	if len(taken.values) != maxTaken {
		t.Errorf("it has %d", len(taken.values))
	}
}
