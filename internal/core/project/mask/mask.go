// Package mask is the language that says which fields of a JSON value its reader needs,
// and the streaming cut that follows it. It works on raw bytes: what is kept keeps its
// order, its digits and its escapes, and nothing is decoded. It never decides when a mask
// applies, and it never reads or stores anything.
//
//	items(id,name)        of each item the two fields; arrays are transparent
//	items[:20](id),total  the first twenty items; [5:10] and [-3:] work as well
//	body~400              a string's first 400 characters, with a note how many are missing
//	!**/*_url             everything but the fields whose name ends so, at any depth
//	"odd, name",x-*       quotes for odd names; * stands for any run of characters
//
// A level with an include is an allow-list; with only exclusions it keeps the rest; an
// exclusion always wins. An exact name beats a glob, a glob with more letters one with
// fewer, and the winner alone decides slice, cap and sub-mask. A cap holds further down
// until a nearer one. What a mask does not fit is ignored there: a group on a number, a slice
// and what follows it on an object, so that items[:](id) cuts the rows of a list and nothing
// else. A field that is missing stays missing. An object in which no name of
// an allow-list occurs is an answer of another kind: see ErrMismatch.
//
//	m, err := mask.Parse("EnvList(EnvId,Alias)")
//	var t mask.Tally
//	out, err := m.Apply(nil, full, &t)
package mask

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Mask is a parsed mask. It is never changed, so that any number of calls may share it.
type Mask struct {
	source string
	root   step
	keys   []string // of the includes, by number: what Unseen speaks of
	blobs  bool     // long strings that look like base64 are replaced by their length
	texts  bool     // only strings that people write are cut
	stars  bool     // what is left out of any member of a list by name is counted as one field
	filled bool     // members without a value are left out
	most   int      // elements of arrays that are kept whole; 0: all

	anyRows bool // slices count as not written
}

// String is the mask as it was written.
func (m *Mask) String() string { return m.source }

// AnyRows is the mask without its slices: what it keeps of any one row.
func (m *Mask) AnyRows() *Mask {
	own := *m
	own.anyRows = true
	return &own
}

// Error says where a mask is invalid.
type Error struct {
	Offset  int // in bytes from the start of the source
	Message string
	Hint    string
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return fmt.Sprintf("mask, at byte %d: %s", e.Offset, e.Message)
	}
	return fmt.Sprintf("mask, at byte %d: %s (%s)", e.Offset, e.Message, e.Hint)
}

// step is what one include asks of the value under its key.
type step struct {
	key   key
	id    int // the number of its first include
	rows  slice
	limit int  // characters of a string; noCap: as many as the level above says
	whole bool // an include without a group: what it holds stays whole
	sub   *level
}

const noCap = -1

// key is a name, or a pattern for names.
type key struct {
	text string
	glob bool
}

// weight is how many characters of the pattern are literal.
func (k key) weight() int { return utf8.RuneCountInString(k.text) - strings.Count(k.text, "*") }

// slice picks elements of an array.
type slice struct {
	set      bool
	from, to int // to < 0: to the end
	last     bool
	count    int // with last: how many at the end
}

// level is the mask of an object's members.
type level struct {
	allow   bool // only what an include names is kept
	exact   map[string]*step
	short   []*step // the same, where they are few
	globs   []*step // the best first
	exclude []*exclusion
}

// few is how many names are looked through faster than they are looked up.
const few = 8

// find is the include that decides about a member; nil when none names it.
func (l *level) find(name []byte) *step {
	if len(l.exact) > few {
		if s := l.exact[string(name)]; s != nil {
			return s
		}
	} else {
		for _, s := range l.short {
			if s.key.text == string(name) {
				return s
			}
		}
	}
	for _, s := range l.globs {
		if match(s.key.text, name) {
			return s
		}
	}
	return nil
}

// exclusion is one step on the way to excluded members.
type exclusion struct {
	deep bool // it holds at every level below as well
	ends bool // the member that brought us here is excluded
	next []excluded
}

type excluded struct {
	key key
	to  *exclusion
}

// follow appends to out where the active exclusions lead by the name; false when one excludes it.
func follow(out, active []*exclusion, name []byte) ([]*exclusion, bool) {
	for _, e := range active {
		if e.deep {
			out = append(out, e)
		}
		for _, x := range e.next {
			switch {
			case !x.key.matches(name):
			case x.to.ends:
				return out, false
			default:
				out = append(out, x.to)
			}
		}
	}
	return out, true
}

// match reports whether the whole name fits a pattern in which only "*" is special.
func match(pattern string, name []byte) bool {
	p := 0
	n := 0
	star := -1
	from := 0 // after the last star; where in name its run ends
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			p++
			star = p
			from = n
		case p < len(pattern) && pattern[p] == name[n]:
			p = p + 1
			n = n + 1
		case star < 0:
			return false
		default:
			from++ // let the last star take one more
			p = star
			n = from
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

func (k key) matches(name []byte) bool {
	if k.glob {
		return match(k.text, name)
	}
	return k.text == string(name)
}
