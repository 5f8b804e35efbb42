package endpoint

import (
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// calls collects calls whose arguments come in pieces.
type calls struct {
	list  []*call
	last  map[string]*call // the last of each index
	named map[string]*call // the first of each id
	event int              // how many events there were
}

// maxCalls limits the calls of one answer.
const maxCalls = 1000

var errTooMany = fault.New(fault.TooLarge, "the model asks for more than %d calls at once", maxCalls)

type call struct {
	id    string
	name  string
	args  arguments
	begun int // the event that began it
}

// arguments counts brackets as the text comes in.
type arguments struct {
	strings.Builder
	open           int
	any            bool // there was a bracket
	quoted, escape bool // the end is inside a string, and behind a backslash
}

func (a *arguments) add(piece string) {
	a.WriteString(piece)
	for i := range len(piece) {
		switch c := piece[i]; {
		case a.escape:
			a.escape = false
		case a.quoted:
			a.escape = c == '\\'
			a.quoted = c != '"'
		case c == '"':
			a.quoted = true
		case c == '{' || c == '[':
			a.open = a.open + 1
			a.any = true
		case c == '}' || c == ']':
			a.open--
		}
	}
}

// whole tells whether the arguments may be complete.
func (a *arguments) whole() bool { return a.any && a.open == 0 && !a.quoted }

// part is a piece of a call, or a whole one.
type part struct{ index, id, name, args string }

func readPart(raw []byte) part {
	var p part
	if i := strings.Trim(string(rawjson.Get(raw, "index")), `"`); i != "null" {
		p.index = i
	}
	p.id, _ = rawjson.String(rawjson.Get(raw, "id"))
	if n, err := strconv.Atoi(string(rawjson.Get(raw, "id"))); err == nil {
		p.id = strconv.Itoa(n)
	}
	p.name, _ = rawjson.String(rawjson.Get(raw, "function", "name"))
	args := rawjson.Get(raw, "function", "arguments")
	if text, ok := rawjson.String(args); ok {
		p.args = text
	} else if !rawjson.IsNull(args) {
		p.args = string(args) // JSON itself in place of a text that holds it
	}
	return p
}

func (l *calls) add(raw []byte) error {
	p := readPart(raw)
	c := l.meant(&p)
	if c == nil {
		if len(l.list) == maxCalls {
			return errTooMany
		}
		c = l.begin(p.index)
	}
	if c.id == "" { // some endpoints make up another with each piece
		c.id = p.id
	}
	if l.named[c.id] == nil {
		l.named[c.id] = c
	}
	if p.name != c.name { // some endpoints say it again with each piece
		c.name += p.name
	}
	c.args.add(p.args)
	return nil
}

func (l *calls) begin(index string) *call {
	if l.list == nil {
		l.last = map[string]*call{}
		l.named = map[string]*call{}
	}
	c := &call{begun: l.event}
	l.list = append(l.list, c)
	l.last[index] = c
	return c
}

// meant returns the call that a piece continues; nil if it begins another. The index should tell,
// but some endpoints send none, or always the same, and some send no ids.
func (l *calls) meant(p *part) *call {
	c := l.candidate(p)
	if c == nil || p.name == "" { // what begins has a name
		return c
	}
	if p.id != "" && c.id != "" {
		if p.id == c.id {
			return c
		}
		return nil
	}
	again := p.name == c.name && p.args == "" // nothing new
	if c.begun == l.event || c.args.whole() && !again || c.args.Len() > 0 && p.name != c.name {
		return nil
	}
	return c
}

// candidate returns the last call with the index, or the one with the id if there is no index.
func (l *calls) candidate(p *part) *call {
	if c := l.named[p.id]; c != nil && p.index == "" && p.id != "" {
		return c
	}
	return l.last[p.index]
}
