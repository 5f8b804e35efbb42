package mask

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a mask may cost to hold and to follow.
const (
	maxSource  = 4 << 10
	maxNesting = 32
	maxItems   = 512
	maxNumber  = 1 << 31
)

// Parse reads a mask. A wrong one is an *Error.
func Parse(src string) (*Mask, error) { return (&parser{src: src}).mask() }

// ParseDrop reads a list of what to leave out: "a,b/c,**/d" means "!a,!b/c,!**/d".
func ParseDrop(src string) (*Mask, error) { return (&parser{src: src, drop: true}).mask() }

type parser struct {
	src   string
	pos   int
	drop  bool // items are exclusions without their sign
	items int
	keys  []string
	top   []Item
}

// Item is one of the fields that a mask lists.
type Item struct {
	Source string
	Name   string // that it begins with; "" for a pattern and an exclusion
}

// Items are the items of the mask's first level; none where it acts on the value itself.
func (m *Mask) Items() []Item {
	p := &parser{src: m.source}
	if _, err := p.mask(); err != nil {
		return nil
	}
	return p.top
}

func (p *parser) fail(offset int, hint, format string, args ...any) error {
	return &Error{Offset: offset, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// peek is the byte at hand; 0 at the end. A NUL in the source is refused as a control character.
func (p *parser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *parser) take(c byte) bool {
	if p.peek() != c || p.pos >= len(p.src) {
		return false
	}
	p.pos++
	return true
}

func (p *parser) space() {
	for p.pos < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *parser) mask() (*Mask, error) {
	if len(p.src) > maxSource {
		return nil, p.fail(maxSource, "", "it is longer than %d bytes", maxSource)
	}
	for i, r := range p.src {
		if r == utf8.RuneError && !strings.HasPrefix(p.src[i:], "\uFFFD") {
			return nil, p.fail(i, "", "it is not UTF-8")
		}
	}
	p.space()
	m := &Mask{source: p.src, root: step{limit: noCap, id: -1}}
	if err := p.self(&m.root); err != nil {
		return nil, err
	}
	p.space()
	if p.pos < len(p.src) {
		return nil, p.unexpected()
	}
	m.root.finish()
	m.keys = p.keys
	return m, nil
}

// self reads modifiers of the root value, or the items of a root object.
func (p *parser) self(root *step) error {
	if c := p.peek(); p.drop || c != '[' && c != '~' {
		return p.list(root.inside(), 1)
	}
	if err := p.modifiers(root); err != nil {
		return err
	}
	if p.peek() == '(' {
		return p.group(root, 1)
	}
	root.whole = true
	return nil
}

func (p *parser) unexpected() error {
	rest := p.src[p.pos:]
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case rest == "":
		return p.fail(p.pos, "a name is missing here", "it ends too early")
	case strings.HasPrefix(rest, "**"):
		return p.fail(p.pos, "write !**/name to leave a name out at any depth", "** stands only after ! and before /")
	case r == '(':
		return p.fail(p.pos, "a group follows a name, as in items(id)", "unexpected (")
	case r == '!' && p.drop:
		return p.fail(p.pos, "all that is named here is left out; write it without !", "unexpected !")
	case r == '!':
		return p.fail(p.pos, "an exclusion is an item of its own, as in a,!b", "unexpected !")
	case unicode.IsControl(r):
		return p.fail(p.pos, "", "unexpected control character %U", r)
	}
	return p.fail(p.pos, `items are separated by commas; odd names stand in "quotes"`, "unexpected %q", r)
}

// list reads items up to the end or a closing parenthesis.
func (p *parser) list(into *level, depth int) error {
	for {
		p.space()
		p.items++
		if p.items > maxItems {
			return p.fail(p.pos, "use a glob", "it has more than %d items", maxItems)
		}
		var err error
		start := p.pos
		name := ""
		if p.drop || p.take('!') {
			err = p.exclude(into, depth)
		} else {
			head := parser{src: p.src, pos: p.pos}
			if k, err := head.key(); err == nil && !k.glob {
				name = k.text
			}
			err = p.include(into, depth)
		}
		if err != nil {
			return err
		}
		if depth == 1 {
			p.top = append(p.top, Item{p.src[start:p.pos], name})
		}
		p.space()
		if !p.take(',') {
			return nil
		}
	}
}

func (p *parser) exclude(into *level, depth int) error {
	if strings.HasPrefix(p.src[p.pos:], "**/") {
		p.pos += len("**/")
		k, err := p.key()
		if err != nil {
			return err
		}
		into.exclusions(true).to(k).ends = true
		if p.peek() == '/' {
			return p.fail(p.pos, "", "after **/ stands one name alone")
		}
		return p.endExclude()
	}
	at := into.exclusions(false)
	for ; ; depth++ {
		if depth > maxNesting {
			return p.fail(p.pos, "", "it is nested deeper than %d", maxNesting)
		}
		k, err := p.key()
		if err != nil {
			return err
		}
		at = at.to(k)
		if !p.take('/') {
			at.ends = true
			return p.endExclude()
		}
	}
}

func (p *parser) endExclude() error {
	switch p.peek() {
	case '[', '~', '(':
		return p.fail(p.pos, "write !a/b, or a(…) without !", "an exclusion has no slice, cap or group")
	}
	return nil
}

func (p *parser) include(into *level, depth int) error {
	into.allow = true
	for {
		if depth > maxNesting {
			return p.fail(p.pos, "", "it is nested deeper than %d", maxNesting)
		}
		k, err := p.key()
		if err != nil {
			return err
		}
		d := into.include(k, len(p.keys))
		if d.id == len(p.keys) {
			p.keys = append(p.keys, k.text)
		}
		if err := p.modifiers(d); err != nil {
			return err
		}
		if p.take('/') {
			into = d.inside()
			depth = depth + 1
			into.allow = true
			continue
		}
		p.space()
		if p.peek() == '(' {
			return p.group(d, depth+1)
		}
		d.whole = true
		return nil
	}
}

func (p *parser) group(d *step, depth int) error {
	open := p.pos
	p.pos++
	if depth > maxNesting {
		return p.fail(open, "", "it is nested deeper than %d", maxNesting)
	}
	p.space()
	if p.peek() == ')' {
		return p.fail(p.pos, "leave the parentheses away to keep all of it", "the group is empty")
	}
	if err := p.list(d.inside(), depth); err != nil {
		return err
	}
	if p.take(')') {
		return nil
	}
	if p.pos >= len(p.src) {
		return p.fail(p.pos, "add )", "the group that starts at byte %d does not end", open)
	}
	return p.unexpected()
}
