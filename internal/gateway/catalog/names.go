package catalog

import "hash/maphash"

// claim is the names that a tool may be shown under, with their hashes.
type claim struct {
	prefixed, preferred         string // preferred is "" if there is only the prefixed one
	prefixedHash, preferredHash uint64
}

// nameSeed is that of all hashes of names.
var nameSeed = maphash.MakeSeed()

func hashOf(name string) uint64 { return maphash.String(nameSeed, name) }

// prefer sets the name that is wanted instead of the prefixed one; "" for none.
func (c claim) prefer(name string) claim {
	c.preferred = name
	c.preferredHash = hashOf(name)
	return c
}

// nameTable finds the tools of a view by the names that they claim. It is a hash table of places without pointers, because
// every change of a list makes one for every profile.
type nameTable struct{ slots []nameSlot }

type nameSlot struct {
	hash     uint64
	at       int32 // one more than the place of the tool: the first that has it as its prefixed name, else the first that prefers it; 0: free
	shared   bool  // several claim the name
	prefixed bool  // it is the prefixed name of the tool
}

// choice is the name that a tool gets.
type choice byte

const (
	choosePrefixed choice = iota
	choosePreferred
	chooseNone // its prefixed name is taken: two hashes collide
)

// chooseNames gives every tool its name. A preferred name must be unique among preferred and prefixed names: server b must
// not take over a's tool by calling its own a__tool. Names is how many names they claim in all.
func chooseNames(claims []*claim, names int, reserved map[string]bool, choices []choice) nameTable {
	size := 16
	for size < names+names/3 {
		size *= 2
	}
	t := nameTable{make([]nameSlot, size)}
	for i, c := range claims {
		choices[i] = choosePrefixed
		if !t.add(claims, i, c.prefixed, c.prefixedHash, true) {
			choices[i] = chooseNone
		}
		if c.preferred != "" {
			t.add(claims, i, c.preferred, c.preferredHash, false)
		}
	}
	if names == len(claims) {
		return t
	}
	for i, c := range claims {
		if c.preferred != "" && !reserved[c.preferred] && !t.slot(claims, c.preferred, c.preferredHash).shared {
			choices[i] = choosePreferred
		}
	}
	return t
}

// add notes that a tool claims a name, and tells whether the name leads to it.
func (t *nameTable) add(claims []*claim, at int, name string, hash uint64, prefixed bool) bool {
	s := t.slot(claims, name, hash)
	s.shared = s.at != 0
	if s.at != 0 && (s.prefixed || !prefixed) {
		return false
	}
	s.hash = hash
	s.at = int32(at) + 1
	s.prefixed = prefixed
	return true
}

// slot is the slot of a name, or the free one where it belongs.
func (t *nameTable) slot(claims []*claim, name string, hash uint64) *nameSlot {
	for i := hash; ; i++ {
		s := &t.slots[i&uint64(len(t.slots)-1)]
		if s.at == 0 {
			return s
		}
		if s.hash != hash {
			continue
		}
		c := claims[s.at-1]
		if s.prefixed && c.prefixed == name || !s.prefixed && c.preferred == name {
			return s
		}
	}
}

// find returns the tool among those that the name leads to for which is holds; nil: none.
func (t *nameTable) find(tools []*Entry, name string, is func(*Entry) bool) *Entry {
	if len(t.slots) == 0 {
		return nil
	}
	hash := hashOf(name)
	for i := hash; ; i++ {
		s := &t.slots[i&uint64(len(t.slots)-1)]
		switch {
		case s.at == 0:
			return nil
		case s.hash == hash && s.at > 0 && is(tools[s.at-1]):
			return tools[s.at-1]
		}
	}
}

// drop forgets the tools that got no name: the others move up.
func (t *nameTable) drop(choices []choice) {
	moved := make([]int32, len(choices))
	at := int32(0)
	for i, c := range choices {
		if c == chooseNone {
			moved[i] = -1
			continue
		}
		at++
		moved[i] = at
	}
	for i := range t.slots {
		if s := &t.slots[i]; s.at > 0 {
			s.at = moved[s.at-1]
		}
	}
}
