package project

import (
	"bytes"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/quoted"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// cutQuoted applies the mask to JSON inside the string that starts there. False: it is not JSON, or
// nothing is left out.
func (r *result) cutQuoted(p *part, start int) bool {
	if r.mask == nil || p.user || !quoted.Opens(r.raw[start:]) {
		return false
	}
	r.open()
	p.tally.Reset() // of two texts in one block the last counts
	used := len(*r.room)
	out, size, err := r.mask.ApplyQuoted(append((*r.room)[used:], '"'), r.raw[start:], &p.tally)
	if err != nil || !p.tally.Left() {
		return false
	}
	out = append(out, '"')
	if used+len(out) <= cap(*r.room) { // else it did not fit, and lies elsewhere
		*r.room = (*r.room)[:used+len(out)]
	}
	p.start = start
	p.end = start + size
	p.full = nil
	p.out = slices.Clip(out)
	p.quoted = true
	p.json = true
	return true
}

// writeQuoted is write for a part that never left its string.
func (r *result) writeQuoted(p *part, ref string) []byte {
	if !p.holdsNote() {
		return p.out
	}
	pieces := noted(p.out[1:len(p.out)-1], r.noteOf(p, ref))
	dst := append(r.space(len(p.out)+256), '"')
	dst = append(dst, pieces[0]...)
	for _, piece := range pieces[1:] {
		dst = quoted.AppendInside(dst, piece)
	}
	return append(dst, '"')
}

// isObject reports whether what is left of the part is one.
func (p *part) isObject() bool {
	if p.quoted {
		return p.out[1] == '{'
	}
	text := p.text()
	return len(text) > 0 && text[0] == '{'
}

// hasNote reports whether what is left of the part has a member of the note's name.
func (p *part) hasNote() bool {
	out := p.text()
	if !bytes.Contains(out, []byte(Omitted)) && !bytes.Contains(out, []byte(`\u`)) { // nor its name in other letters
		return false
	}
	if p.quoted {
		out = quoted.AppendText(nil, out)
	}
	return rawjson.Get(out, Omitted) != nil
}

// quotedTokens estimates the tokens of a string's text. Long ones are sampled in four places.
func quotedTokens(literal []byte) int {
	const size = 512
	var room [12 * size]byte
	if len(literal) <= len(room) {
		return tokens.Estimate(quoted.AppendText(room[:0], literal))
	}
	text := room[:0]
	read := 0
	for i := range 4 {
		piece := literal[i*(len(literal)-size)/3:][:size]
		// What follows a quote is sure to be no half of an escape.
		if quote := bytes.IndexByte(piece, '"'); quote >= 0 {
			piece = piece[quote:]
			text, _ = quoted.ReadText(text, piece)
		} else {
			text = append(text, piece...)
		}
		read += len(piece)
	}
	return max(1, int(int64(tokens.Estimate(text))*int64(len(literal))/int64(read)))
}
