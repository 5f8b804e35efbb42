package columns

import (
	"bytes"
	"hash/maphash"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Limits of what is looked at.
const (
	maxNodes    = 600
	maxDistinct = 64  // values of a column that are told from each other
	mapMembers  = 17  // from which an object of objects is a list by name
	longBytes   = 120 // of a text
)

// node is a place in the value.
type node struct {
	name   string
	kids   []*node
	byName map[string]*node
	more   bool // there are members that are not among the kids

	objects int  // at this place
	rows    bool // they are elements of an array, or members of a map
	below   bool // they stand in such rows
	known   bool // what they stand in has a name

	within  int // objects that have this member
	values  int // plain ones, with those in arrays
	listed  int // of these, in arrays
	empty   int // of these, without content
	strings int
	bools   int
	urls    int
	opaque  int
	bytes   int
	first   []byte
	varies  bool // not all are the same
	some    map[uint64]struct{}
}

// reader goes over a value once.
type reader struct{ nodes int }

var seed = maphash.MakeSeed()

// value reads a value at the place. arrays is how many arrays it is in there.
func (r *reader) value(n *node, value []byte, arrays int) {
	if len(value) == 0 {
		return
	}
	switch {
	case value[0] == '[' && len(value) > 2:
		for w := rawjson.Array(value); w.Next(); {
			n.rows = n.rows || w.Value[0] == '{'
			r.value(n, w.Value, arrays+1)
		}
	case value[0] == '{' && len(value) > 2:
		r.object(n, value)
	default:
		n.plain(value, arrays > 0)
	}
}

func (r *reader) object(n *node, value []byte) {
	n.objects++
	isMap := isMap(value)
	for w := rawjson.Object(value); w.Next(); {
		name := string(w.Key)
		if isMap {
			name = "*"
		}
		kid := r.kid(n, name)
		if kid == nil {
			continue
		}
		kid.rows = kid.rows || isMap
		kid.within++
		r.value(kid, w.Value, 0)
	}
}

// kid is the member of that name; nil when there are too many.
func (r *reader) kid(n *node, name string) *node {
	if k := n.byName[name]; k != nil {
		return k
	}
	if r.nodes == maxNodes {
		n.more = true
		return nil
	}
	r.nodes++
	k := &node{name: name}
	if n.byName == nil {
		n.byName = map[string]*node{}
	}
	n.byName[name] = k
	n.kids = append(n.kids, k)
	return k
}

// isMap reports whether an object is a list by name: many members, all of them objects or arrays.
func isMap(object []byte) bool {
	n := 0
	for w := rawjson.Object(object); w.Next(); n++ {
		if w.Value[0] != '{' && w.Value[0] != '[' {
			return false
		}
	}
	return n >= mapMembers
}

// plain counts a value that is no object, and no array with something in it.
func (n *node) plain(value []byte, listed bool) {
	if n.values == 0 {
		n.first = value
	}
	n.varies = n.varies || !bytes.Equal(value, n.first)
	n.values++
	n.bytes += len(value)
	if listed {
		n.listed++
	}
	if len(n.some) < maxDistinct {
		if n.some == nil {
			n.some = map[uint64]struct{}{}
		}
		n.some[maphash.Bytes(seed, value)] = struct{}{}
	}
	switch {
	case len(value) == 2 && value[0] != '"' && (value[0] < '0' || value[0] > '9') && value[0] != '-', string(value) == `""`, value[0] == 'n':
		n.empty++
	case value[0] == 't' || value[0] == 'f':
		n.bools++
	case value[0] == '"':
		n.strings++
		inner := value[1 : len(value)-1]
		if isURL(inner) {
			n.urls++
		} else if isOpaque(inner) {
			n.opaque++
		}
	}
}

// isURL reports whether a text is an address with a scheme.
func isURL(text []byte) bool {
	i := bytes.Index(text[:min(len(text), 24)], []byte("://"))
	return i > 1 && bytes.IndexByte(text, ' ') < 0
}

// Of opaque values.
const (
	leastOpaque = 16
	mostOpaque  = 1024
)

// isOpaque reports whether a text is a hash, a random ID or the like: one long word in which letters
// and digits, or capitals and small letters, change too often for words.
func isOpaque(text []byte) bool {
	if len(text) < leastOpaque || len(text) > mostOpaque {
		return false
	}
	changes := 0
	digits := 0
	letters := 0
	last := byte(0)
	for i, c := range text {
		var kind byte
		switch {
		case c >= '0' && c <= '9':
			kind = 'd'
			digits++
		case c >= 'a' && c <= 'z':
			kind = 'a'
			letters++
		case c >= 'A' && c <= 'Z':
			kind = 'A'
			letters++
		case c == '-' || c == '_' || c == '+' || c == '/' || c == '=' || c == ':':
			last = 0
			continue
		default:
			return false
		}
		if i > 0 && last != 0 && kind != last {
			changes++
		}
		last = kind
	}
	return letters > 0 && digits > 0 && changes*5 >= len(text)
}
