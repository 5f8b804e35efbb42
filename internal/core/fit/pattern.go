package fit

import (
	"errors"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"
)

// pattern is a regular expression, run here because package regexp cannot count its work or be
// interrupted. Nil matches everything.
type pattern struct {
	source   string
	program  []syntax.Inst
	start    uint32
	anchored bool // it can only match at the beginning
}

// Limits for compiling patterns. A program has about as many instructions as its pattern has letters.
const (
	maxSource   = 4 << 10   // bytes of one pattern
	maxProgram  = 16 << 10  // weight of one program
	maxPrograms = 128 << 10 // of all programs of a schema
)

var errLarge = errors.New("it is too large")

// newPattern compiles a pattern within the room for programs that is left to the schema.
func newPattern(source string, room *int) (*pattern, error) {
	if len(source) > maxSource || *room < 0 {
		return nil, errLarge
	}
	*room -= len(source)
	re, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		*room -= 16 * len(source) // what was read before the error may have been large
		return nil, err
	}
	size := weight(re)
	*room -= size
	if size > maxProgram || *room < 0 {
		return nil, errLarge
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return nil, err
	}
	anchored := prog.StartCond()&syntax.EmptyBeginText != 0
	return &pattern{source: source, program: prog.Inst, start: uint32(prog.Start), anchored: anchored}, nil
}

// pattern reads a regular expression; nil, which matches everything, when it cannot be used.
func (c *compiler) pattern(m *node, source string) *pattern {
	p, err := newPattern(source, &c.programs)
	if err != nil {
		c.note(m, "pattern %.40q is not checked: %v", source, cut(err.Error(), maxText))
	}
	return p
}

// weight is the size of a program before it is compiled, capped just above maxProgram.
func weight(re *syntax.Regexp) int {
	n := 1
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCharClass:
		n += len(re.Rune) / 64
	case syntax.OpRepeat:
		n += max(re.Min, re.Max, 1) * (weight(re.Sub[0]) + 1)
	default:
		for _, sub := range re.Sub {
			n += weight(sub) + 1
		}
	}
	return min(n, maxProgram+1)
}

// runner follows all threads of a program at once, character by character.
type runner struct {
	now, next threads
	stack     []uint32
}

// threads is a set of instructions, in the order in which they were come to.
type threads struct{ at, list []uint32 }

func (t *threads) add(pc uint32) bool {
	if i := t.at[pc]; int(i) < len(t.list) && t.list[i] == pc {
		return false
	}
	t.at[pc] = uint32(len(t.list))
	t.list = append(t.list, pc)
	return true
}

func (t *threads) empty(size int) {
	t.list = t.list[:0]
	if len(t.at) < size {
		t.at = make([]uint32, size)
		t.list = slices.Grow(t.list, size)
	}
}

var runners = sync.Pool{New: func() any { return &runner{} }}

// perStep is how many instructions of a program count as one step of a fit.
const perStep = 4

// match reports whether the pattern matches somewhere in the text. False when the budget runs out.
func (p *pattern) match(text []byte, b *budget) bool {
	if p == nil {
		return true
	}
	m := runners.Get().(*runner)
	defer runners.Put(m)
	m.now.empty(len(p.program))
	r, at := decode(text, 0)
	around := syntax.EmptyOpContext(-1, r)
	for begin := true; ; begin = false {
		if (begin || !p.anchored) && m.follow(p, &m.now, p.start, around) {
			return true
		}
		if r < 0 || len(m.now.list) == 0 || !b.spend(1+len(m.now.list)/perStep) {
			return false
		}
		var after rune
		after, at = decode(text, at)
		around = syntax.EmptyOpContext(r, after)
		m.next.empty(len(p.program))
		for _, pc := range m.now.list {
			if inst := &p.program[pc]; takes(inst, r) && m.follow(p, &m.next, inst.Out, around) {
				return true
			}
		}
		m.now, m.next = m.next, m.now
		r = after
	}
}

// decode is the character at i and where the next one begins; -1 at the end.
func decode(text []byte, i int) (rune, int) {
	if i == len(text) {
		return -1, i
	}
	if c := text[i]; c < utf8.RuneSelf {
		return rune(c), i + 1
	}
	r, n := utf8.DecodeRune(text[i:])
	return r, i + n
}

// takes reports whether the instruction is one that takes the character.
func takes(inst *syntax.Inst, r rune) bool {
	switch inst.Op {
	case syntax.InstRune1:
		return r == inst.Rune[0]
	case syntax.InstRuneAny:
		return true
	case syntax.InstRuneAnyNotNL:
		return r != '\n'
	case syntax.InstRune:
		return inst.MatchRune(r)
	}
	return false
}

// follow adds the instruction and all that it leads to without consuming a character; true on a match.
func (m *runner) follow(p *pattern, to *threads, pc uint32, around syntax.EmptyOp) bool {
	m.stack = append(m.stack[:0], pc)
	for len(m.stack) > 0 {
		pc = m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		for to.add(pc) {
			inst := &p.program[pc]
			switch inst.Op {
			case syntax.InstMatch:
				return true
			case syntax.InstAlt, syntax.InstAltMatch:
				m.stack = append(m.stack, inst.Arg)
				pc = inst.Out
			case syntax.InstCapture, syntax.InstNop:
				pc = inst.Out
			case syntax.InstEmptyWidth:
				if syntax.EmptyOp(inst.Arg)&^around == 0 {
					pc = inst.Out
				}
			}
		}
	}
	return false
}
