package mask

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Tally counts what was left out. The zero value is ready to use; Reset allows reuse without
// allocation.
type Tally struct {
	Rows   int // elements of arrays
	Cut    int // strings that were shortened
	Others int // members beyond those that Fields names

	fields []field
	text   []byte                  // of their paths
	index  map[uint64]int          // 1 + place in fields, by id; empty while they are few
	seen   [maxSource / 128]uint64 // which includes occurred, a bit each: a mask has one for two bytes at most
}

// Limits of what is remembered of names. A name that is not UTF-8 counts among the others.
const (
	maxFields = 256
	fewFields = 8   // which are looked through faster than they are looked up
	maxPath   = 512 // bytes of the names on the way to one
)

type field struct {
	id           uint64
	start, end   int // of its path in Tally.text
	bytes, count int
}

// Field is a member that was left out, under whatever rows.
type Field struct {
	Path  string // as a mask that asks for it
	Name  string
	Bytes int // with its name, over all rows
	Count int // how often it occurred
}

// Reset makes t ready for another value.
func (t *Tally) Reset() {
	t.Rows = 0
	t.Cut = 0
	t.Others = 0
	t.fields = t.fields[:0]
	t.text = t.text[:0]
	clear(t.index)
	clear(t.seen[:])
}

// Left reports whether anything was left out.
func (t *Tally) Left() bool { return t.Rows > 0 || t.Cut > 0 || t.Others > 0 || len(t.fields) > 0 }

// Fields returns the members left out, largest first.
func (t *Tally) Fields() []Field {
	out := make([]Field, len(t.fields))
	for i, f := range t.fields {
		path := string(t.text[f.start:f.end])
		out[i] = Field{Path: path, Name: lastKey(path), Bytes: f.bytes, Count: f.count}
	}
	slices.SortStableFunc(out, func(a, b Field) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return out
}

// lastKey is the last name of a path that AppendKey wrote.
func lastKey(path string) string {
	p := parser{src: path}
	for {
		k, err := p.key()
		if err != nil || !p.take('/') {
			return k.text
		}
	}
}

// Add counts what other left out as well.
func (t *Tally) Add(other *Tally) {
	t.Rows += other.Rows
	t.Cut += other.Cut
	t.Others += other.Others
	for _, f := range other.fields {
		t.add(f.id, f.bytes, f.count, func(text []byte) []byte { return append(text, other.text[f.start:f.end]...) })
	}
}

// Clone is a copy that can be counted on by itself.
func (t *Tally) Clone() *Tally {
	c := *t
	c.fields = slices.Clone(t.fields)
	c.text = slices.Clone(t.text)
	c.index = maps.Clone(t.index)
	return &c
}

// Drop counts a member that was left out of the root object. Its name is given as a literal.
func (t *Tally) Drop(literal []byte, bytes int) {
	t.drop(nil, &member{name: literal[1 : len(literal)-1]}, bytes)
}

// drop counts a member of the object that the names lead to, and says where in fields.
func (t *Tally) drop(names [][]byte, m *member, bytes int) int {
	if m.field > 0 {
		f := &t.fields[m.field-1]
		f.bytes += bytes
		f.count++
		return m.field
	}
	size := len(m.name)
	sayable := utf8.Valid(m.name)
	for _, n := range names {
		size += len(n)
		sayable = sayable && utf8.Valid(n)
	}
	if size > maxPath || !sayable {
		t.Others++
		return 0
	}
	return t.add(fieldID(m.path, m.name), bytes, 1, func(text []byte) []byte {
		for _, n := range names {
			text = append(appendName(text, n), '/')
		}
		return appendName(text, m.name)
	})
}

// add counts a field, with the path that write appends if it is new. It returns 1 + its place in
// fields; 0 when there are too many.
func (t *Tally) add(id uint64, bytes, count int, write func([]byte) []byte) int {
	if n := t.find(id); n > 0 {
		f := &t.fields[n-1]
		f.bytes += bytes
		f.count += count
		return n
	}
	if len(t.fields) == maxFields {
		t.Others += count
		return 0
	}
	start := len(t.text)
	t.text = write(t.text)
	t.fields = append(t.fields, field{id: id, start: start, end: len(t.text), bytes: bytes, count: count})
	t.enter()
	return len(t.fields)
}

// find is 1 + the place of a field; 0 when it is not there.
func (t *Tally) find(id uint64) int {
	if len(t.fields) > fewFields {
		return t.index[id]
	}
	return 1 + slices.IndexFunc(t.fields, func(f field) bool { return f.id == id })
}

// enter adds the last field to the index, and starts one when there are many.
func (t *Tally) enter() {
	n := len(t.fields)
	switch {
	case n == fewFields+1:
		if t.index == nil {
			t.index = make(map[uint64]int, 4*fewFields)
		}
		for i, f := range t.fields {
			t.index[f.id] = i + 1
		}
	case n > fewFields:
		t.index[t.fields[n-1].id] = n
	}
}

// fieldID hashes a member and its parent. A collision would only merge two lines of a note.
func fieldID(parent uint64, name []byte) uint64 {
	const prime = 0x9E3779B97F4A7C15
	h := parent ^ uint64(len(name))
	for ; len(name) >= 8; name = name[8:] {
		h = (h ^ binary.LittleEndian.Uint64(name)) * prime
		h ^= h >> 32
	}
	rest := uint64(0)
	for _, b := range name {
		rest = rest<<8 | uint64(b)
	}
	h = (h ^ rest) * prime
	return h ^ h>>32
}

// AppendKey appends a member's name, given as a literal, as a mask writes it.
func AppendKey(dst, literal []byte) []byte { return appendName(dst, literal[1:len(literal)-1]) }

// appendName is AppendKey for a name as it is written between quotes.
func appendName(dst, written []byte) []byte {
	if string(written) == string(anyName) {
		return append(dst, '*')
	}
	bare := len(written) > 0
	for i := 0; i < len(written) && bare; {
		r, n := utf8.DecodeRune(written[i:])
		bare = isBare(r) && r != '*' && (r != utf8.RuneError || n > 1)
		i += n
	}
	if bare { // which a backslash is not
		return append(dst, written...)
	}
	return rawjson.AppendString(dst, string(unescaped(written)))
}

func (t *Tally) see(id int) { t.seen[id/64] |= 1 << (id % 64) }

// See takes over which names of a mask occurred in what other counted.
func (t *Tally) See(other *Tally) {
	for i, bits := range other.seen {
		t.seen[i] |= bits
	}
}

// Unseen are the names in the mask that no member had in what t counted.
func (m *Mask) Unseen(t *Tally) (names []string) {
	for id, name := range m.keys {
		if t.seen[id/64]&(1<<(id%64)) == 0 {
			names = append(names, name)
		}
	}
	return names
}
