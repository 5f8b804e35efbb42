package project

import (
	"bytes"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/project/quoted"
	"github.com/toolfit/toolfit/internal/core/project/shape"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// leastShare is the fewest tokens of a text that are worth reading. Rather than share less, the last
// texts are dropped.
const leastShare = 100

// fit cuts structuredContent to its budget, and all text together.
func (r *result) fit(how How) {
	r.readResources()
	if how.Budget > 0 {
		how.Budget = max(how.Budget, leastWhole)
	}
	var model, user []*part
	for _, p := range r.parts {
		switch {
		case p.structured:
			if how.Budget > 0 {
				p.fit(how, how.Budget, true)
			}
		case p.user:
			user = append(user, p)
		default:
			model = append(model, p)
		}
	}
	how.Budget = how.limit()
	r.fitTexts(model, user, how)
}

// A note takes about 35 tokens: a smaller budget counts as leastWhole, and links leave leastRoom of it.
const (
	leastWhole = 50
	leastRoom  = 40
)

// maxTries is how often texts are cut anew because they do not fit together with their notes.
const maxTries = 12

// fitTexts cuts the texts so that they fit together, with the notes and the links beside them. Text for
// the user takes what the model's leaves. Where not even a piece of them fits, the note stands alone.
func (r *result) fitTexts(model, user []*part, how How) {
	all := slices.Concat(model, user)
	if len(all) == 0 || r.fitsTogether(all, how.Budget-r.linkTokens()) {
		return
	}
	room := max(how.Budget-r.linkTokens(), leastRoom)
	saved := make([]part, len(all))
	for i, p := range all {
		saved[i] = *p
	}
	goal := room
	for range maxTries {
		if len(all) == 1 {
			all[0].trim(how, goal, true)
		} else {
			left := fitTogether(model, how, goal)
			fitTogether(user, how, left)
		}
		if r.fitsTogether(all, room) {
			return
		}
		for i, p := range all {
			*p = saved[i]
			p.tally = *saved[i].tally.Clone()
		}
		goal -= max(goal/16, refRoom)
	}
	all[0].json = false
	all[0].out = []byte{}
	all[0].shaped = nil
	all[0].said.named = unnamed
	all[0].tally.Cut++
	for _, p := range all[1:] {
		p.drop()
	}
}

// fitsTogether reports whether the texts and what is said about them fit.
func (r *result) fitsTogether(parts []*part, room int) bool {
	for _, p := range parts {
		p.left = nil // it may have been cut since
		if !p.dropped {
			p.note = unknown
		}
	}
	r.gatherNotes()
	texts := make([][]byte, 0, len(parts)+1)
	size := 0
	leaves := false
	for _, p := range parts {
		text := r.readerText(p)
		texts = append(texts, text)
		size += len(text)
		leaves = leaves || p.leaves()
	}
	if leaves {
		room -= refRoom
		texts = append(texts, r.outsideNote(likeRef))
	} else if size <= room {
		return true
	}
	for i, text := range texts {
		if !tokens.Fits(text, room) {
			return false
		}
		if i < len(texts)-1 { // else nothing else has to fit
			room -= counted(text)
		}
	}
	return true
}

// readerText is what a reader gets of the part.
func (r *result) readerText(p *part) []byte {
	switch {
	case p.dropped:
		return nil
	case p.out == nil && p.shaped == nil: // as it came, with what stands around its JSON
		if p.came != nil {
			return p.came
		}
		return quoted.AppendText(nil, r.raw[p.start:p.end])
	}
	return appendAll(nil, r.pieces(p, likeRef))
}

// linkTokens are the tokens of links and of the addresses of resources, which are never cut.
func (r *result) linkTokens() (n int) {
	if r.others == 0 {
		return 0
	}
	for w := rawjson.Array(rawjson.Get(r.raw, "content")); w.Next(); {
		switch kind := rawjson.Get(w.Value, "type"); string(kind) {
		case `"resource"`:
			n += counted(rawjson.Get(w.Value, "resource", "uri"))
		case `"resource_link"`:
			n += counted(w.Value)
		}
	}
	return n
}

// fitTogether cuts the parts so that they fit together, and returns what is left of the budget.
func fitTogether(parts []*part, how How, budget int) (left int) {
	if len(parts) == 1 {
		parts[0].fit(how, budget, true)
		return max(0, budget-counted(parts[0].sent()))
	}
	sizes := make([]int, len(parts))
	for i, p := range parts {
		sizes[i] = counted(p.sent())
	}
	most := share(sizes, budget)
	if most < leastShare {
		return keepFirst(parts, how, sizes, budget)
	}
	for i, p := range parts {
		if sizes[i] > most {
			p.trim(how, most, false)
			sizes[i] = min(sizes[i], most)
		}
		budget -= sizes[i]
	}
	return max(0, budget)
}

// keepFirst keeps as many of the first parts as fit, at least one. None takes more than half.
func keepFirst(parts []*part, how How, sizes []int, budget int) (left int) {
	most := max(budget/2, min(budget, leastShare))
	left = budget
	for i, p := range parts {
		sizes[i] = min(sizes[i], most) + 1
		if i > 0 && sizes[i] > left { // and a break between two
			for _, p := range parts[i:] {
				p.drop()
			}
			break
		}
		p.fit(how, most, false)
		left -= sizes[i]
	}
	return max(0, left)
}

// fit cuts the part to the budget if it is over it. When the part stands alone, its note counts.
func (p *part) fit(how How, budget int, alone bool) {
	if alone && p.leaves() || !tokens.Fits(p.sent(), budget) {
		p.trim(how, budget, alone)
	}
}

// trim cuts the part to the budget. A shaped part is cut before shaping, so that its rows stay whole.
func (p *part) trim(how How, budget int, alone bool) {
	if value := p.head(4 * budget); value != nil {
		if p.trimJSON(nil, value, how, budget, alone) {
			return
		}
		p.out = value
	}
	p.json = false
	text := p.sent()
	if start := jsonTail(text); start > 0 && !p.structured {
		value, err := mask.Compact(nil, text[start:])
		if room := budget - counted(text[:start]); err == nil && room >= budget/2 && p.trimJSON(text[:start], value, How{}, room, alone) {
			return
		}
	}
	if alone { // prose, or prose in braces
		budget -= noteTokens
	}
	if budget < 10*leastShare {
		p.said.named = unnamed
	}
	p.out = append([]byte{}, trimText(text, budget, &p.tally)...)
	p.shaped = nil
}

// trimJSON is trim for JSON, perhaps behind some words about it; false when nothing of it would be left and
// a piece of its text says more.
func (p *part) trimJSON(lead, value []byte, how How, budget int, alone bool) bool {
	c := trimmer{state: state{value: value, tally: p.tally.Clone()}, budget: budget, noted: alone}
	if how.Shape != "" && how.Shape != shape.Off && !p.structured && !p.user {
		c.write = func(value []byte) []byte {
			if out, ok := shape.Text(value, how.Shape); ok {
				return out
			}
			return value
		}
	}
	out := c.trim()
	if c.emptied && !p.structured {
		return false
	}
	p.shaped = nil
	p.out = slices.Concat(lead, out)
	p.tally = *c.tally
	p.said = c.said
	p.reshape(how.Shape)
	return true
}

// maxLead is how long the words before the JSON in a text may be.
const maxLead = 1 << 10

// jsonTail is where the JSON starts that a text ends in; 0 when it does not, or is nothing else.
func jsonTail(text []byte) int {
	for i, b := range text[:min(len(text), maxLead)] {
		if i > 0 && (b == '{' || b == '[') && rawjson.Check(bytes.TrimSpace(text[i:])) == nil {
			return i
		}
	}
	return 0
}

// head is the rest of the part as compact JSON with so many elements of each array (0: all); nil if it
// is not JSON.
func (p *part) head(elements int) []byte {
	if !p.json {
		return nil
	}
	var t mask.Tally
	value, err := mask.First(elements).Apply(nil, p.text(), &t)
	if err != nil || rawjson.Check(value) != nil {
		return nil
	}
	p.tally.Add(&t)
	return value
}

// hopeless is how far over its budget a text must be for shaping to be pointless.
const hopeless = 16

// isHopeless reports whether a text will be cut however it is shaped.
func (p *part) isHopeless(budget int) bool {
	return budget > 0 && len(p.text()) > hopeless*budget && tokens.Sampled(p.text()) > hopeless*budget
}
