package store

import (
	"slices"
	"strconv"
	"testing"
)

// TestManyChangesOfATableAreOne: the first of them are named, and the rest is one change that names none.
func TestManyChangesOfATableAreOne(t *testing.T) {
	n := &news{wake: make(chan struct{}, 1), known: map[Change]bool{}, keys: map[string]int{}}
	for i := range 10 * maxKeys {
		n.add(Change{"rules", strconv.Itoa(i)})
	}
	n.add(Change{"keys", "k"})
	list := n.take()
	if len(list) != maxKeys+2 || list[maxKeys] != (Change{Table: "rules"}) || !slices.Contains(list, Change{"keys", "k"}) {
		t.Errorf("passed on %d changes, the last %q", len(list), list[maxKeys:])
	}
	if list = n.take(); len(list) != 0 {
		t.Errorf("passed on again: %q", list)
	}
}
