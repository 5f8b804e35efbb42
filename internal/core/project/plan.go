package project

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/project/quoted"
	"github.com/toolfit/toolfit/internal/core/project/shape"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// How says how to cut a result. The zero value leaves it whole.
type How struct {
	Mask   *mask.Mask // what to keep of each JSON value; nil: all
	JQ     *Program   // program that converts each value; nil: none; not together with a Mask
	Budget int        // o200k tokens of content, and as many of structuredContent; 0: any number
	Shape  shape.Mode // of text; "": as it came
	Filled bool       // text loses members without a value: null, "", [] and {}
	Offset int        // of the first row that is sent, where a value has rows (see PageOf)
	Limit  int        // of rows; 0: all

	TextBudget int  // without a Budget: o200k tokens of content alone; 0: any number
	App        bool // structuredContent stays whole: an app shows it to a person
}

// Passes reports whether a result stays whole because there is at most a TextBudget, and it is well
// below that. Its bytes are not decoded; escapes cost no less than what they stand for.
func (h *How) Passes(raw []byte) bool {
	if *h != (How{TextBudget: h.TextBudget, App: h.App}) {
		return false
	}
	most := h.TextBudget
	return most == 0 || len(raw) <= most || isWellWithin(raw, most)
}

// isWellWithin reports whether samples of JSON text, without the backslashes of escapes, have so few tokens that all of it
// has at most so many. Counting is what costs: a quarter of the samples is enough where there is plenty of room.
func isWellWithin(raw []byte, most int) bool {
	const size = 1 << 10
	if len(raw) <= 4*size {
		return false
	}
	return hasRoom(raw, most, size/4, 3) || hasRoom(raw, most, size, 5)
}

// hasRoom reports whether four samples of that size have at most part in part+1 of the tokens that they may have.
func hasRoom(raw []byte, most, size, part int) bool {
	var buffer [4 << 10]byte
	n := 0
	for i := range 4 {
		from := i * (len(raw) - size) / 3
		for _, c := range raw[from : from+size] {
			buffer[n] = c
			if c != '\\' {
				n++
			}
		}
	}
	text := buffer[:n]
	allowed := most * 4 * size / len(raw) // tokens of the samples
	return tokens.Estimate(text)*2 <= allowed || tokens.Fits(text, allowed*part/(part+1))
}

// limit is how many tokens content may have; 0: any number.
func (h *How) limit() int { return cmp.Or(h.Budget, h.TextBudget) }

// Outcome says what happened to a result. It is also used in metrics.
type Outcome string

const (
	Whole     Outcome = "whole"             // unchanged: nothing to do, or an error, which is never cut
	Projected Outcome = "projected"         // cut or shaped
	Mismatch  Outcome = "shape_mismatch"    // no name of the mask occurs: the mask was not applied
	Failed    Outcome = "projection_failed" // not readable, or the program failed: the rule was not applied
)

// Cut is a planned cut of a result. It refers to the result's bytes.
type Cut struct {
	Outcome Outcome
	Err     error    // with Failed: why
	Unseen  []string // names in the mask that occur nowhere in the result

	raw    []byte
	result *result // nil: the bytes are passed on unchanged
}

// Plan decides what its reader gets of a result. It does not change raw.
func Plan(ctx context.Context, raw []byte, how How) *Cut {
	c := &Cut{Outcome: Whole, raw: raw}
	if how.leavesAlone(raw) {
		return c
	}
	r, err := readResult(raw, how.Mask)
	if err != nil {
		c.Outcome = Failed
		c.Err = err
		return c
	}
	if r == nil {
		return c
	}
	if how.App {
		r.parts = slices.DeleteFunc(r.parts, func(p *part) bool { return p.structured })
	}
	if how.Budget == 0 && how.JQ == nil && r.textBytes() <= how.TextBudget { // only a program makes more of it
		how.TextBudget = 0
	}
	r.find()
	for _, p := range r.parts {
		if p.user || !p.json {
			continue
		}
		switch {
		case p.quoted:
			if how.beyondMask() {
				p.out = quoted.AppendText(r.space(len(p.out)), p.out)
				p.quoted = false
			}
		case how.Mask != nil || how.JQ != nil:
			c.apply(ctx, r, p, how)
		}
		if how.Offset > 0 || how.Limit > 0 {
			p.page(how.Offset, how.Limit)
		}
		if how.Filled {
			p.dropEmpty()
		}
		if !p.isHopeless(how.limit()) {
			p.reshape(how.Shape)
		}
	}
	if how.Mask != nil {
		var seen mask.Tally
		for _, p := range r.parts {
			seen.See(&p.tally)
		}
		c.Unseen = how.Mask.Unseen(&seen)
	}
	if how.limit() > 0 {
		r.fit(how)
	}
	if r.changed() {
		c.result = r
		if c.Outcome == Whole {
			c.Outcome = Projected
		}
	}
	return c
}

// leavesAlone reports whether nothing has to be done. A budget that is not exceeded is dropped.
func (h *How) leavesAlone(raw []byte) bool {
	if h.Budget >= len(raw) { // no byte costs more than one token
		h.Budget = 0
	}
	if h.TextBudget >= len(raw) {
		h.TextBudget = 0
	}
	return h.Mask == nil && h.JQ == nil && !h.beyondMask()
}

// beyondMask reports whether there is more to do than to apply the mask.
func (h *How) beyondMask() bool {
	return h.limit() > 0 || h.Filled || h.Offset > 0 || h.Limit > 0 || h.Shape != "" && h.Shape != shape.Off
}

// apply cuts a part by the mask or the program.
func (c *Cut) apply(ctx context.Context, r *result, p *part, how How) {
	var out []byte
	var err error
	if how.JQ != nil {
		out, err = p.run(ctx, how.JQ)
	} else {
		out, err = how.Mask.Apply(r.space(len(p.full)/2), p.full, &p.tally)
	}
	switch {
	case err == nil && p.leaves():
		p.out = out
	case errors.Is(err, mask.ErrMismatch):
		c.Outcome = Mismatch
		p.tally.Reset() // nothing was left out after all
	case err != nil:
		c.Outcome = Failed
		c.Err = err
		p.tally.Reset()
	}
}

// run applies a program. Any other output counts as a cut, since it is unknown what it leaves
// out.
func (p *part) run(ctx context.Context, program *Program) ([]byte, error) {
	compact, err := mask.Compact(nil, p.full)
	if err != nil {
		return nil, err
	}
	out, err := program.Run(ctx, compact)
	p.program = err == nil && !bytes.Equal(compact, out)
	return out, err
}

// noteTokens is the approximate cost of a note.
const noteTokens = 36

// dropEmpty removes the empty members of a JSON text.
func (p *part) dropEmpty() {
	if p.structured {
		return
	}
	var t mask.Tally
	out, err := mask.Without(nil, true, 0).Apply(nil, p.text(), &t)
	if err != nil || !p.leaves() && tokens.Estimate(p.text())-tokens.Estimate(out) <= noteTokens {
		return
	}
	p.out = out
	p.tally.Add(&t)
}

// reshape shortens a JSON text if the shape asks for it. structuredContent keeps its form for
// programs.
func (p *part) reshape(mode shape.Mode) {
	if p.structured || p.user {
		return
	}
	out, ok := shape.Text(p.text(), mode)
	switch {
	case !ok:
	case p.lines && rawjson.Check(out) == nil: // without white space, and still lines
		p.out = out
	default:
		p.shaped = out
	}
}

// page leaves only some rows of the part, where it has rows.
func (p *part) page(offset, limit int) {
	value := p.head(0)
	if value == nil {
		return
	}
	at, ok := rowsOf(value)
	if !ok {
		return
	}
	from := min(offset, at.Count)
	to := at.Count
	if limit > 0 {
		to = min(to, from+limit)
	}
	if to-from == at.Count {
		return
	}
	var rows [][]byte
	for w := rawjson.Array(value[at.Start:at.End]); w.Next(); {
		rows = append(rows, w.Value)
	}
	p.out = slices.Concat(value[:at.Start], Rows(rows[from:to]), value[at.End:])
	p.tally.Rows += at.Count - (to - from)
}
