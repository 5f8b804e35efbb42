package clean

// rewrite replaces pieces of a text, in order. The text may be joined from several.
type rewrite struct {
	text     []byte
	places   []int     // where each of the joined texts ends, ascending; nil: a single text
	crossing bool      // only replace what crosses such a place
	hide     func(int) // called for each place inside a comment; may be nil

	out   []byte
	done  int // of text
	moved int // of places: as many are where they will be in out
	found bool
}

// replace replaces text[from:to], in the first of the joined texts, and reports whether it
// did.
func (w *rewrite) replace(from, to int, by string) bool {
	w.move(from)
	if w.crossing && !w.crosses(to) {
		return false
	}
	w.out = append(append(w.out, w.text[w.done:from]...), by...)
	for ; w.crosses(to); w.moved++ {
		w.places[w.moved] = len(w.out)
	}
	w.done = to
	w.found = true
	return true
}

// comment removes the text between from and to.
func (w *rewrite) comment(from, to int) {
	w.move(from)
	for i := w.moved; w.hide != nil && i < len(w.places) && w.places[i] < to; i++ {
		w.hide(i)
	}
	w.replace(from, to, "")
}

// crosses reports whether a joined text ends before end.
func (w *rewrite) crosses(end int) bool { return w.moved < len(w.places) && w.places[w.moved] < end }

// move shifts the places up to upTo by how much the text before them has shrunk.
func (w *rewrite) move(upTo int) {
	for ; w.moved < len(w.places) && w.places[w.moved] <= upTo; w.moved++ {
		w.places[w.moved] += len(w.out) - w.done
	}
}

// finish applies the replacements and tells whether there were any.
func (w *rewrite) finish() bool {
	w.move(len(w.text))
	found := w.found
	if found {
		w.text = append(append(make([]byte, 0, len(w.out)+len(w.text)-w.done), w.out...), w.text[w.done:]...)
	}
	w.out = w.out[:0]
	w.done = 0
	w.moved = 0
	w.found = false
	return found
}
