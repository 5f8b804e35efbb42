package search

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const day = 24 * time.Hour

func TestMemoryFindsWhatTheWordsDoNot(t *testing.T) {
	x := New(Read(small))
	m := NewMemory(nil)
	const text = "ping Ann"
	if got := x.Search(Query{Text: text, Memory: m, Now: labTime}); len(got) == 0 || got[0].Score >= Sure {
		t.Fatalf("an empty memory is sure of %v", got)
	}
	m.Add(NewCredit("mail__send", "ping Bob", nil, labTime))
	got := x.Search(Query{Text: text, Memory: m, Now: labTime})
	if small[got[0].Index].ID != "mail__send" || got[0].Memory < 1 {
		t.Fatalf("got %v", got)
	}
	if later := x.Search(Query{Text: text, Memory: m, Now: labTime.Add(90 * day)}); later[0].Score >= got[0].Score {
		t.Error("a credit counts as much after three months")
	}
	for _, odd := range []time.Time{{}, labTime.Add(-90 * day), labTime.Add(1e6 * time.Hour)} {
		if r := x.Search(Query{Text: text, Memory: m, Now: odd}); len(r) > 0 && !(r[0].Score <= got[0].Score) {
			t.Errorf("at %v the score is %v", odd, r[0].Score)
		}
	}
}

func TestMemoryIsBoundedAndAgreementCounts(t *testing.T) {
	x := New(Read(small))
	score := func(credits ...Credit) float32 {
		got := x.Search(Query{Text: "ping Ann", Memory: NewMemory(credits), Now: labTime})
		for _, r := range got {
			if small[r.Index].ID == "mail__send" {
				return r.Memory
			}
		}
		return 0
	}
	var many, shared []Credit
	for i := range 30 {
		many = append(many, NewCredit("mail__send", fmt.Sprintf("ping somebody%d", i), nil, labTime))
		shared = append(shared, many[i], NewCredit("shop__orders", fmt.Sprintf("ping something%d", i), nil, labTime))
	}
	one := score(many[0])
	all := score(many...)
	half := score(shared...)
	if !(one < half && half < all && all < mostMemory) {
		t.Errorf("one credit counts %v, thirty %v, thirty of sixty %v", one, all, half)
	}
}

func TestMemoryKeepsTheLastCreditsOfATool(t *testing.T) {
	m := NewMemory(nil)
	for i := range 100 {
		m.Add(NewCredit("a", fmt.Sprintf("query number%d", i), nil, labTime.Add(time.Duration(i)*day)))
	}
	m.Add(NewCredit("a", "an older query", nil, labTime.Add(-day)))
	m.Add(NewCredit("a", "number90 query", nil, labTime.Add(300*day))) // the same words: the same query
	m.Add(NewCredit("a", "the", nil, labTime))                         // no words: nothing to remember
	kept := m.Credits("a")
	if len(kept) != maxCredits || !kept[len(kept)-1].At.Equal(labTime.Add(300*day)) || kept[0].At.Before(labTime.Add(70*day)) {
		t.Fatalf("%d are kept, from %v to %v", len(kept), kept[0].At, kept[len(kept)-1].At)
	}
	traces := 0
	for _, list := range m.terms {
		traces += len(list)
	}
	if want := 4 * maxCredits; traces != want { // query, number, its digits, and both
		t.Errorf("%d traces, want %d", traces, want)
	}
	raw, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	var back []Credit
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(kept, NewMemory(back).Credits("a")); diff != "" {
		t.Error(diff)
	}
	if m.Credits("b") != nil {
		t.Error("an unknown tool has credits")
	}
}

func TestMemoryIsForManyGoroutines(t *testing.T) {
	x := New(Read(small))
	m := NewMemory(nil)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 100 {
				m.Add(NewCredit(small[i%len(small)].ID, fmt.Sprintf("word%d ping %d", g, i), nil, labTime))
				x.Search(Query{Text: "ping word1", Memory: m, Now: labTime})
			}
		})
	}
	all.Wait()
}

func TestHelpersComeWithTheToolTheyWereCalledFor(t *testing.T) {
	x := New(Read(small))
	before := []string{"weather__forecast", "mail__send", "gone"}
	m := NewMemory([]Credit{NewCredit("mail__send", "write to Ann", before, labTime)})
	places := func(text string, allow func(int) bool) map[string]int {
		at := map[string]int{}
		for i, r := range x.Search(Query{Text: text, Limit: 9, Memory: m, Now: labTime, Allow: allow}) {
			at[small[r.Index].ID] = i + 1
		}
		return at
	}
	if at := places("send an email", nil); at["weather__forecast"] == 2 {
		t.Errorf("once is enough: %v", at)
	}
	m.Add(NewCredit("mail__send", "wish Bob a good journey", before, labTime))
	if at := places("send an email", nil); at["mail__send"] != 1 || at["weather__forecast"] != 2 {
		t.Errorf("the helper of a tool is not next to it: %v", at)
	}
	if at := places("weather forecast", nil); at["weather__forecast"] != 1 || at["mail__send"] != 2 {
		t.Errorf("a tool is not next to its helper: %v", at)
	}
	if at := places("send an email", func(i int) bool { return small[i].ID != "weather__forecast" }); at["weather__forecast"] > 0 {
		t.Error("a helper that is not allowed is found")
	}
}

func TestTrailCreditsOnlyWhatASearchLedTo(t *testing.T) {
	var trail Trail
	called := func(tool string, good bool) string {
		query, _, ok := trail.Called(tool, good)
		if ok != (query != "") {
			t.Fatalf("query %q and credit %v", query, ok)
		}
		return query
	}
	if called("a", true) != "" {
		t.Error("a call without a search is credited")
	}
	trail.Found("first", []string{"a", "b"})
	if called("a", false) != "" {
		t.Error("a call that went wrong is credited")
	}
	if called("c", true) != "" {
		t.Error("a tool that was not found is credited")
	}
	if called("a", true) != "first" || called("a", true) != "" {
		t.Error("a tool is not credited exactly once")
	}
	if _, before, ok := trail.Called("b", true); !ok || !slices.Equal(before, []string{"c", "a", "a"}) {
		t.Errorf("b was called after %v", before)
	}
	trail.Found("second", []string{"b"})
	if called("b", true) != "second" {
		t.Error("the last search does not get the credit")
	}
	trail.Found("third", []string{"z"})
	for range soon {
		called("y", true)
	}
	if called("z", true) != "" {
		t.Error("a call long after the search is credited")
	}
}
