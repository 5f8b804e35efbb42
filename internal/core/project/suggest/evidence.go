package suggest

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// evidence is what the recorded calls say about one path.
type evidence struct {
	path     [][]byte
	parent   string // path of the object that has it
	name     string // in lower case
	expected bool   // by its name
	input    bool   // a tool of the same server takes an argument of its name

	bytes   int
	count   int
	results int // that have it
	objects int // that have it
	most    int // of these in one result
	repeats int // results that have a value of it twice
	empty   int
	first   string // value
	varies  bool
	length  int // of all values
	opaque  int // values that look random: hashes, keys
	urls    int
	times   int
	prose   int                 // values with white space
	plain   int                 // values that could be ids
	values  map[uint64]struct{} // hashes of the different ones among the first maxValues
	now     struct {            // in the current result
		values, objects int
		different       map[uint64]struct{} // hashes
	}
	asked   int // results after which an argument of its name was given
	fetched bool

	kept bool
	why  string
}

const (
	maxValues = 1000
	maxID     = 100 // bytes
	// leastAsked is how many results must be followed by an argument of a field's name, with another value each time,
	// before the name counts for nothing.
	leastAsked = 5
)

func newEvidence(path [][]byte, opts *Options) *evidence {
	name, _ := rawjson.String(path[len(path)-1])
	e := &evidence{path: slices.Clone(path), name: strings.ToLower(name), expected: isExpected(name)}
	e.parent = string(bytes.Join(path[:len(path)-1], []byte{'/'}))
	e.values = map[uint64]struct{}{}
	e.now.different = map[uint64]struct{}{}
	e.input = slices.ContainsFunc(opts.Inputs, func(in string) bool { return strings.EqualFold(in, name) })
	return e
}

// expected are names that people ask for, whether models use them or not. Names may end in them: envId, user_name.
var expected = []string{"id", "name", "title", "status", "state", "type", "alias"}

func isExpected(name string) bool {
	return strings.EqualFold(name, "url") || slices.ContainsFunc(expected, func(word string) bool {
		at := len(name) - len(word)
		if at < 0 || !strings.EqualFold(name[at:], word) {
			return false
		}
		return at == 0 || name[at-1] == '_' || name[at-1] == '-' || kindOf(name[at]) == 'A'
	})
}

var seed = maphash.MakeSeed()

// see counts a value; more: it is not the first of an array.
func (e *evidence) see(leaf []byte, more bool) {
	text := string(leaf)
	e.count++
	e.now.values++
	if !more {
		e.now.objects++
	}
	if e.count == 1 {
		e.first = text
	}
	e.varies = e.varies || text != e.first
	e.length += len(text)
	hash := maphash.Bytes(seed, leaf)
	e.now.different[hash] = struct{}{}
	if e.count <= maxValues {
		e.values[hash] = struct{}{}
	}
	s := strings.Trim(text, `"`)
	switch {
	case text == "null" || text == `""` || text == "[]" || text == "{}":
		e.empty++
	case isTime(e.name, s):
		e.times++
	case strings.ContainsAny(s, " \t") || strings.Contains(s, `\n`):
		e.prose++
	case strings.Contains(s, "://"):
		e.urls++
	case isOpaque(s):
		e.opaque++
	}
	if len(text) <= maxID && !strings.ContainsAny(s, " \t") && (leaf[0] == '"' || strings.Trim(text, "0123456789") == "") {
		e.plain++
	}
}

// endResult counts what was seen of one result.
func (e *evidence) endResult() {
	e.results++
	e.objects += e.now.objects
	e.most = max(e.most, e.now.objects)
	if len(e.now.different) < e.now.values {
		e.repeats++
	}
	clear(e.now.different)
	e.now.values = 0
	e.now.objects = 0
}

// isTime finds times: as ISO 8601 or HTTP writes them, or counted since 1970 under a name that says so.
func isTime(name, s string) bool {
	if len(s) >= 10 && len(s) <= 40 && (s[0] == '1' || s[0] == '2') && (s[4] == '-' || s[4] == '/') && s[7] == s[4] {
		return true
	}
	if len(s) > len("Mon,") && s[3] == ',' {
		_, err := time.Parse(time.RFC1123, s)
		return err == nil
	}
	if strings.Trim(s, "0123456789") != "" || len(s) != 10 && len(s) != 13 {
		return false
	}
	return strings.Contains(name, "time") || strings.Contains(name, "date") || strings.HasSuffix(name, "_at")
}

// isOpaque finds values that say nothing by themselves: hashes, keys, encoded ids. They are long numbers, or change
// between small letters, capitals and digits far more often than words and names do.
func isOpaque(s string) bool {
	const least = 12
	digits := 0
	changes := 0
	last := byte(0)
	for i := range len(s) {
		kind := kindOf(s[i])
		switch kind {
		case 0:
			continue
		case '0':
			digits++
		}
		if last != 0 && kind != last {
			changes++
		}
		last = kind
	}
	return len(s) >= least && changes*3 >= len(s) || len(s) >= 20 && digits*2 > len(s)
}

// kindOf is 'a', 'A' or '0' for small letters, capitals and digits; 0 for all else.
func kindOf(c byte) byte {
	switch {
	case c >= 'a' && c <= 'z':
		return 'a'
	case c >= 'A' && c <= 'Z':
		return 'A'
	case c >= '0' && c <= '9':
		return '0'
	}
	return 0
}

func (e *evidence) isOpaque() bool { return e.opaque*2 > e.count }

func (e *evidence) isURL() bool { return e.urls*2 > e.count }

// isLong reports whether what an object has of it is long.
func (e *evidence) isLong() bool { return e.length/e.objects >= longText }

// isText reports whether the values are texts, and long or a good part of the results.
func (e *evidence) isText(st *study) bool {
	return e.prose*2 > e.count && (e.isLong() || e.share(st) > textShare)
}

// isID reports whether the values could be ids: short, and mostly different in one result.
func (e *evidence) isID() bool {
	return e.plain == e.count && e.times == 0 && e.urls == 0 && e.varies && e.repeats*2 <= e.results
}

func (e *evidence) share(st *study) float64 { return float64(e.bytes) / float64(max(1, st.total)) }

// decide decides whether the path is kept, and why, apart from the values that were used.
func (e *evidence) decide(st *study) (keep bool, why string) {
	switch {
	case e.fetched:
		return true, "fetched again"
	case e.empty == e.count:
		return false, "always empty"
	case e.expected && !e.isLong():
		return true, "a name that is asked for"
	case e.input && e.isID() && e.asked < leastAsked:
		return true, "other tools take it"
	case !e.varies && e.count > 2 && (e.most > 1 || e.isLong() && st.asked):
		return false, "always the same"
	case e.times*2 > e.count:
		return true, "a time"
	case e.isURL() && st.addresses[e.parent] > 1:
		return false, "one of several addresses, and nobody used it"
	case e.isURL():
		return true, "its only address"
	case e.most == 1:
		return true, "what the result is about"
	case e.isOpaque():
		return true, "tells the results apart"
	case e.isLong():
		return false, "long, and nobody used it"
	case e.share(st) > cheapShare:
		return false, "costs much, and nobody used it"
	}
	return true, "costs little"
}

// compare orders paths by what they cost, then by name.
func (e *evidence) compare(o *evidence) int {
	return cmp.Or(cmp.Compare(e.bytes, o.bytes), bytes.Compare(bytes.Join(e.path, []byte{'/'}), bytes.Join(o.path, []byte{'/'})))
}
