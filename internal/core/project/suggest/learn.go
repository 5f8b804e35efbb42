package suggest

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/mask"
)

const (
	maxPaths   = 2000
	cheapShare = .02 // of the bytes: cheaper fields are kept, unless there is a reason not to
	longText   = 200 // bytes on average
)

// evidence is what the recorded calls say about one path.
type evidence struct {
	path     [][]byte
	bytes    int
	count    int
	empty    int
	first    string // value
	varies   bool
	length   int // of all values
	noise    int // values that look like hashes, times, addresses
	used     bool
	fetched  bool
	expected bool // by its name
}

// study collects the evidence from the samples.
func study(samples []sample, opts *Options) (byPath map[string]*evidence, total int) {
	byPath = map[string]*evidence{}
	for _, s := range samples {
		leaves(s.body, nil, func(path [][]byte, leaf []byte) {
			e := find(byPath, path, opts)
			if e == nil {
				return
			}
			size := len(leaf) + 1
			if len(path) > 0 {
				size += len(path[len(path)-1])
			}
			total += size
			e.bytes += size
			e.see(leaf)
			v := valueOf(leaf)
			e.used = e.used || v != "" && s.later[v]
		})
		for _, m := range s.fetched {
			out, err := m.Apply(nil, s.body, &mask.Tally{})
			if err != nil {
				continue
			}
			leaves(out, nil, func(path [][]byte, _ []byte) {
				if e := find(byPath, path, opts); e != nil {
					e.fetched = true
				}
			})
		}
	}
	return byPath, total
}

func find(byPath map[string]*evidence, path [][]byte, opts *Options) *evidence {
	id := string(bytes.Join(path, []byte{'/'}))
	e := byPath[id]
	if e == nil && len(byPath) < maxPaths && len(path) > 0 {
		e = &evidence{path: slices.Clone(path), expected: isExpected(path[len(path)-1], opts)}
		byPath[id] = e
	}
	return e
}

func (e *evidence) see(leaf []byte) {
	text := string(leaf)
	e.count++
	if e.count == 1 {
		e.first = text
	}
	e.varies = e.varies || text != e.first
	e.length += len(text)
	switch {
	case text == "null" || text == `""` || text == "[]" || text == "{}":
		e.empty++
	case isNoise(text):
		e.noise++
	}
}

// expected are names that people ask for, whether models use them or not.
var expected = []string{"id", "name", "title", "status", "state", "type", "url", "alias"}

func isExpected(literal []byte, opts *Options) bool {
	name, _ := rawjson.String(literal)
	lower := strings.ToLower(name)
	if slices.Contains(expected, lower) || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID") ||
		strings.HasSuffix(lower, "_id") || strings.HasSuffix(name, "Name") || strings.HasSuffix(lower, "_name") {
		return true
	}
	return slices.ContainsFunc(opts.Inputs, func(in string) bool { return strings.EqualFold(in, name) })
}

// isNoise finds values that models rarely need: times, addresses, hashes.
func isNoise(leaf string) bool {
	s := strings.Trim(leaf, `"`)
	if strings.Contains(s, "://") {
		return true
	}
	if len(s) >= 10 && len(s) <= 35 && s[4] == '-' && s[7] == '-' && s[0] >= '1' && s[0] <= '2' {
		return true // 2006-01-02…
	}
	digits := 0
	for i := range len(s) {
		if s[i] == ' ' {
			return false
		}
		if s[i] >= '0' && s[i] <= '9' {
			digits++
		}
	}
	return len(s) >= 20 && digits*8 > len(s)
}

// decide decides whether the path is kept, and why.
func (e *evidence) decide(total int) (keep bool, why string) {
	share := float64(e.bytes) / float64(max(1, total))
	switch {
	case e.fetched:
		return true, "fetched again"
	case e.used:
		return true, "used in later arguments"
	case e.empty == e.count:
		return false, "always empty"
	case e.expected && e.length/e.count < longText:
		return true, "a name that is asked for"
	case !e.varies && e.count > 2:
		return false, "always the same"
	case e.noise*2 > e.count:
		return false, "hashes, times or addresses that nobody used"
	case e.length/e.count >= longText:
		return false, "long, and nobody used it"
	case share > cheapShare:
		return false, "costs much, and nobody used it"
	}
	return true, "costs little"
}

// learn derives a mask from the samples; nil when nothing is left out, or the mask would be too long.
func learn(samples []sample, opts *Options) (keep string, fields []Field, m *mask.Mask) {
	byPath, total := study(samples, opts)
	root := &branch{}
	dropped := false
	for _, id := range slices.Sorted(maps.Keys(byPath)) {
		e := byPath[id]
		kept, why := e.decide(total)
		dropped = dropped || !kept
		root.add(e.path, kept)
		fields = append(fields, Field{Path: mask.Path(e.path), Kept: kept, Share: float64(e.bytes) / float64(max(1, total)), Why: why})
	}
	keep = string(root.write(nil))
	if !dropped || keep == "" || len(byPath) >= maxPaths {
		return "", nil, nil
	}
	m, err := mask.Parse(keep)
	if err != nil {
		return "", nil, nil // too long to be a rule that a person can read
	}
	return keep, fields, m
}

// branch is a piece of the mask while it is put together.
type branch struct {
	name    []byte
	next    []*branch
	kept    bool // it is a leaf that is kept
	dropped bool // it is, or has below it, one that is not
}

func (b *branch) add(path [][]byte, kept bool) {
	b.dropped = b.dropped || !kept
	if len(path) == 0 {
		b.kept = b.kept || kept
		return
	}
	i := slices.IndexFunc(b.next, func(n *branch) bool { return bytes.Equal(n.name, path[0]) })
	if i < 0 {
		i = len(b.next)
		b.next = append(b.next, &branch{name: path[0]})
	}
	b.next[i].add(path[1:], kept)
}

// some reports whether anything of the branch is kept.
func (b *branch) some() bool { return b.kept || slices.ContainsFunc(b.next, (*branch).some) }

// write appends the kept branches as a mask. A branch that is kept completely is just its name.
func (b *branch) write(dst []byte) []byte {
	first := true
	for _, n := range b.next {
		if !n.some() {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = mask.AppendKey(dst, n.name)
		if n.dropped && len(n.next) > 0 {
			inner := n.write(nil)
			if len(inner) > 0 {
				dst = append(append(append(dst, '('), inner...), ')')
			}
		}
	}
	return dst
}
