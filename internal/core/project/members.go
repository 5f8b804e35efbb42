package project

import (
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/mask"
)

// dropMembers drops members of the largest objects.
func (c *trimmer) dropMembers() bool {
	for range maxRounds {
		bulk, err := mask.Survey(c.value)
		if err != nil || bulk.Object.Count < 2 {
			return false
		}
		if c.trimMembers(bulk.Object) {
			return true
		}
	}
	return false
}

// trimMembers keeps the first members of the object at the place, as many as fit but at least one.
func (c *trimmer) trimMembers(at mask.Place) bool {
	var ends []int
	for w := rawjson.Object(c.value[at.Start:at.End]); w.Next(); {
		ends = append(ends, w.End)
	}
	_, ok := c.most(1, len(ends), c.over, nil, func(n int) state {
		s := c.state
		s.tally = c.tally.Clone()
		w := rawjson.Object(c.value[at.Start:at.End])
		for i := 0; w.Next(); i++ {
			if i >= n {
				dropMember(s.tally, &w, at.Start == 0)
			}
		}
		s.value = cutAfter(c.value, at, ends[n-1], '}')
		return s
	})
	return ok
}

// dropMember counts the member at hand.
func dropMember(t *mask.Tally, w *rawjson.Walk, root bool) {
	if !root || !utf8.Valid(w.Key) { // its path is unknown here, or not UTF-8
		t.Others++
		return
	}
	name := rawjson.AppendString(nil, string(w.Key))
	t.Drop(name, len(name)+1+len(w.Value))
}

// empty leaves nothing of the value but what it is.
func (c *trimmer) empty() {
	c.emptied = true
	c.tally.Others++
	switch c.value[0] {
	case '{':
		c.value = []byte("{}")
	case '[':
		c.value = []byte("[]")
	case '"':
		c.value = []byte(`""`)
	}
	c.said = said{named: unnamed}
}
