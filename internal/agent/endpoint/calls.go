package endpoint

import (
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// calls are those of an answer, whose arguments come in pieces.
type calls struct {
	list  []*call
	last  map[string]*call // the last of each index
	named map[string]*call // the first of each id
	event int              // how many events there were
}

// maxCalls bounds the calls of one answer: whoever makes more has lost the thread.
const maxCalls = 1000

var errTooMany = fault.New(fault.TooLarge, "the model asks for more than %d calls at once", maxCalls)

type call struct {
	id    string
	name  string
	args  arguments
	begun int // the event that began it
}

// arguments are the text of arguments, whose brackets are counted as it comes in.
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
			a.escape, a.quoted = c == '\\', c != '"'
		case c == '"':
			a.quoted = true
		case c == '{' || c == '[':
			a.open, a.any = a.open+1, true
		case c == '}' || c == ']':
			a.open--
		}
	}
}

// whole tells whether they can be all.
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

// next begins the next event.
func (l *calls) next() { l.event++ }

// add takes a piece in.
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
		l.last, l.named = map[string]*call{}, map[string]*call{}
	}
	c := &call{begun: l.event}
	l.list = append(l.list, c)
	l.last[index] = c
	return c
}

// meant is the call that a piece goes on with; nil when it begins another. By the protocol
// the index tells; but some endpoints give none, or the same to all, and some give no ids.
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

// candidate is the last call of the same index, or the one of the same id where there is no index.
func (l *calls) candidate(p *part) *call {
	if c := l.named[p.id]; c != nil && p.index == "" && p.id != "" {
		return c
	}
	return l.last[p.index]
}
