package fit

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// maker makes values that a place probably accepts; whoever uses it asks the oracle.
type maker struct {
	rand *rand.Rand
	full bool // every optional property is filled
	left int
}

// flatten is spread without a value: unions are settled by chance.
func (g *maker) flatten(place []*shape) []*shape {
	var flat []*shape
	var add func(s *shape)
	add = func(s *shape) {
		if s == nil || slices.Contains(flat, s) {
			return
		}
		flat = append(flat, s)
		add(s.ref)
		for _, p := range s.all {
			add(p)
		}
		for _, union := range [][]*shape{s.any, s.one} {
			if len(union) > 0 {
				add(union[g.rand.IntN(len(union))])
			}
		}
	}
	for _, s := range place {
		add(s)
	}
	return flat
}

func (g *maker) value(place []*shape, depth int) string {
	g.left--
	flat := g.flatten(place)
	accepts := tAny
	for _, s := range flat {
		accepts = accepts.and(s.accepts)
	}
	for _, s := range flat {
		if s.listed {
			if len(s.enum) == 0 {
				return ""
			}
			return string(s.enum[g.rand.IntN(len(s.enum))].raw)
		}
	}
	if accepts == tAny {
		accepts = tString | tInteger | tBoolean
		for _, s := range flat {
			if len(s.props) > 0 || s.additional != nil {
				accepts = tObject
			} else if s.items != nil {
				accepts = tArray
			}
		}
	}
	var kinds []types
	for _, n := range typeNames {
		if accepts&n.t != 0 && (n.t != tNull || !g.full || accepts == tNull) {
			kinds = append(kinds, n.t)
		}
	}
	if len(kinds) == 0 {
		return ""
	}
	switch kinds[g.rand.IntN(len(kinds))] {
	case tString:
		return g.text(flat)
	case tInteger:
		return g.number(flat)
	case tNumber:
		return g.number(flat) + []string{"", ".5", ".0", ""}[g.rand.IntN(4)]
	case tBoolean:
		return []string{"true", "false"}[g.rand.IntN(2)]
	case tNull:
		return "null"
	case tArray:
		return g.array(flat, depth)
	}
	return g.object(flat, depth)
}

func (g *maker) text(flat []*shape) string {
	for _, s := range flat {
		if s.pattern != nil {
			for _, try := range []string{"abc", "ABC", "12", "2026-01-02", "a-b", "2026-01-02T03:04:05Z", "abc123", "#ffffff", "10:30",
				"a@example.com", "https://example.com", "00000000-0000-0000-0000-000000000000", "0x12ab", "1.2.3", "AAPL", "us-east-1",
				"/a/b", "12345678"} {
				if s.pattern.match([]byte(try), plenty()) {
					return strconv.Quote(try)
				}
			}
		}
	}
	s := []string{"a", "text", "12", "Some words", "x-y", "中文", "true", "null", "[1]", `{"a":1}`}[g.rand.IntN(10)]
	for _, f := range flat {
		for len([]rune(s)) < int(f.minLength) && f.minLength < 1000 {
			s += "x"
		}
		if r := []rune(s); f.maxLen >= 0 && len(r) > int(f.maxLen) {
			s = string(r[:f.maxLen])
		}
	}
	raw, _ := json.Marshal(s)
	return string(raw)
}

// step is how far the next integer is that an integer bound allows.
func step(b *bound) int {
	if b.exclusive {
		return 1
	}
	return 0
}

func (g *maker) number(flat []*shape) string {
	low := -1 << 40
	high := 1 << 40
	for _, s := range flat {
		if s.low != nil {
			low = max(low, bounded(s.low)+step(s.low))
		}
		if s.high != nil {
			high = min(high, bounded(s.high)-step(s.high))
		}
	}
	switch {
	case low == -1<<40 && high == 1<<40:
		return []string{"0", "7", "9007199254740993", "-3", "42", "1e2"}[g.rand.IntN(6)]
	case low == -1<<40:
		return strconv.Itoa(high)
	}
	return strconv.Itoa(low + g.rand.IntN(max(1, min(high-low+1, 1000))))
}

func bounded(b *bound) int {
	f, _ := strconv.ParseFloat(b.value.String(), 64)
	return int(max(-1<<40, min(1<<40, f)))
}

func (g *maker) array(flat []*shape, depth int) string {
	n := 0
	if depth < 6 && g.left > 0 {
		n = 1 + g.rand.IntN(2)
	}
	for _, s := range flat {
		n = max(n, int(min(s.minItems, 10)))
		if s.maxItems >= 0 {
			n = min(n, int(s.maxItems))
		}
	}
	var items []string
	for k := range n {
		var place []*shape
		for _, s := range flat {
			if it := s.item(k); it != nil {
				place = append(place, it)
			}
		}
		v := g.value(place, depth+1)
		if v == "" {
			break
		}
		items = append(items, v)
	}
	return "[" + strings.Join(items, ",") + "]"
}

func (g *maker) object(flat []*shape, depth int) string {
	required := requiredNames(flat)
	var names []string
	for _, s := range flat {
		for _, p := range s.props {
			if !slices.Contains(names, p.name) {
				names = append(names, p.name)
			}
		}
	}
	for _, name := range required {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var out []string
	for _, name := range names {
		must := slices.Contains(required, name)
		if depth > 40 || !must && (depth > 5 || g.left < 0 || !g.full && g.rand.IntN(2) == 0) {
			continue
		}
		place, _, _ := under(plenty(), flat, name)
		if v := g.value(place, depth+1); v != "" {
			out = append(out, quoted(name)+":"+v)
		}
	}
	if len(names) == 0 && depth < 5 {
		for _, s := range flat {
			if s.additional != nil && !s.additional.never {
				out = append(out, `"key":`+g.value([]*shape{s.additional}, depth+1))
				break
			}
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}

func quoted(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

// arguments makes a set of arguments for a schema, "" when it has no idea.
func arguments(d *document, r *rand.Rand, full bool) string {
	g := &maker{rand: r, full: full, left: 300}
	s := g.value(d.place, 0)
	if s == "" || s[0] != '{' || !json.Valid([]byte(s)) {
		return ""
	}
	return s
}
