package endpoint

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// calls are those of an answer, whose arguments come in pieces.
type calls struct {
	list  []*call
	event int // how many events there were
}

type call struct {
	index string // "": the endpoint gives none
	id    string
	name  string
	args  strings.Builder
	begun int // the event that began it
}

// whole tells whether the arguments can be all.
func (c *call) whole() bool { return c.args.Len() > 0 && json.Valid([]byte(c.args.String())) }

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
func (l *calls) add(raw []byte) {
	p := readPart(raw)
	c := l.meant(&p)
	if c == nil {
		c = &call{index: p.index, begun: l.event}
		l.list = append(l.list, c)
	}
	if c.id == "" { // some endpoints make up another with each piece
		c.id = p.id
	}
	if p.name != c.name { // some endpoints say it again with each piece
		c.name += p.name
	}
	c.args.WriteString(p.args)
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
	if c.begun == l.event || c.whole() && !again || c.args.Len() > 0 && p.name != c.name {
		return nil
	}
	return c
}

// candidate is the last call of the same index, or the one of the same id where there is no index.
func (l *calls) candidate(p *part) (c *call) {
	for _, other := range l.list {
		if other.index == p.index {
			c = other
		}
	}
	if p.index == "" && p.id != "" {
		for _, other := range l.list {
			if other.id == p.id {
				return other
			}
		}
	}
	return c
}
