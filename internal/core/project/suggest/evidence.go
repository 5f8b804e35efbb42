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
	name     string // in lower case
	expected bool   // by its name
	input    bool   // a tool of the same server takes an argument of its name

	bytes   int
	count   int
	results int // that have it
	most    int // values in one result
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
	values  map[uint64]struct{} // hashes of the different ones, as many as maxValues
	here    map[uint64]struct{} // of those in the current result
	asked   int                 // results after which an argument of its name was given
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
	e.values = map[uint64]struct{}{}
	e.here = map[uint64]struct{}{}
	e.input = slices.ContainsFunc(opts.Inputs, func(in string) bool { return strings.EqualFold(in, name) })
	return e
}

// expected are names that people ask for, whether models use them or not.
var expected = []string{"id", "name", "title", "status", "state", "type", "url", "alias"}

func isExpected(name string) bool {
	lower := strings.ToLower(name)
	return slices.Contains(expected, lower) || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID") ||
		strings.HasSuffix(lower, "_id") || strings.HasSuffix(name, "Name") || strings.HasSuffix(lower, "_name")
}

var seed = maphash.MakeSeed()

func (e *evidence) see(leaf []byte) {
	text := string(leaf)
	e.count++
	if e.count == 1 {
		e.first = text
	}
	e.varies = e.varies || text != e.first
	e.length += len(text)
	hash := maphash.Bytes(seed, leaf)
	e.here[hash] = struct{}{}
	if len(e.values) < maxValues {
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

// endResult counts what was seen of one result, which had n values.
func (e *evidence) endResult(n int) {
	e.results++
	e.most = max(e.most, n)
	if len(e.here) < n {
		e.repeats++
	}
	clear(e.here)
}

// isTime finds times: as ISO 8601 or HTTP writes them, or counted since 1970 under a name that says so.
func isTime(name, s string) bool {
	if len(s) >= 10 && len(s) <= 40 && (s[0] == '1' || s[0] == '2') && (s[4] == '-' || s[4] == '/') && s[7] == s[4] {
		return true
	}
	if _, err := time.Parse(time.RFC1123, s); err == nil {
		return true
	}
	if strings.Trim(s, "0123456789") != "" || len(s) != 10 && len(s) != 13 {
		return false
	}
	return strings.Contains(name, "time") || strings.Contains(name, "date") || strings.HasSuffix(name, "_at")
}

// isOpaque finds values that say nothing by themselves: hashes, keys, encoded ids.
func isOpaque(s string) bool {
	digits := 0
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			digits++
		}
	}
	return len(s) >= 20 && digits*8 > len(s) || len(s) >= 12 && strings.HasSuffix(s, "=")
}

func (e *evidence) isOpaque() bool { return e.opaque*2 > e.count }

func (e *evidence) isURL() bool { return e.urls*2 > e.count }

// parent is the object that the field is in.
func (e *evidence) parent() string { return string(bytes.Join(e.path[:len(e.path)-1], []byte{'/'})) }

// isText reports whether the values are long texts.
func (e *evidence) isText() bool { return e.length/e.count >= longText && e.prose*2 > e.count }

// isID reports whether the values could be ids: short, and mostly different in one result.
func (e *evidence) isID() bool {
	return e.plain == e.count && e.times == 0 && e.urls == 0 && e.varies && e.repeats*2 <= e.results
}

func (e *evidence) share(st *study) float64 { return float64(e.bytes) / float64(max(1, st.total)) }

// decide decides whether the path is kept, and why, apart from the values that were used.
func (e *evidence) decide(st *study) (keep bool, why string) {
	long := e.length/e.count >= longText
	switch {
	case e.fetched:
		return true, "fetched again"
	case e.empty == e.count:
		return false, "always empty"
	case e.expected && !long:
		return true, "a name that is asked for"
	case e.input && e.isID() && e.asked < leastAsked:
		return true, "other tools take it"
	case !e.varies && e.count > 2 && (!e.isText() || e.most > 1 || st.asked):
		return false, "always the same"
	case e.times*2 > e.count:
		return true, "a time"
	case e.isURL() && st.addresses[e.parent()] > 1:
		return false, "one of several addresses, and nobody used it"
	case e.isURL():
		return true, "its only address"
	case e.most == 1:
		return true, "what the result is about"
	case e.isOpaque():
		return true, "tells the results apart"
	case long:
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
