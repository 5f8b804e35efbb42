package schema

// cut is where writing stops: levels above level are complete, level itself has room for this
// many more bytes and nodes.
type cut struct {
	level, bytes, nodes int
}

var wholeCut = cut{level: huge}

// rung limits descriptions and enums.
type rung struct {
	words  int // bytes of one description
	values int // longer enums are described in words
}

// rungs are tried in order, before anything is omitted.
var rungs = [...]rung{{huge, maxEnum}, {300, maxEnum}, {100, maxEnum}, {40, 60}, {0, 30}}

// sizes are bytes on each rung.
type sizes [len(rungs)]int

// levelSize is the size of all forms on one level.
type levelSize struct {
	bytes sizes
	nodes int
}

// item is a form to be measured.
type item struct {
	f   *form
	up  *frame
	key int // bytes of its property name
}

// budget walks the schema as it will be written, breadth first, until it is done or the limits
// are reached.
type budget struct {
	w      *writer
	levels []levelSize
	queue  [][]item // by level
	room   int      // how many more items may be queued
	lost   int      // the first level with an item that could not be queued
	seen   map[*form]bool
	sum    levelSize
}

// measure chooses the rung and where writing stops.
func (w *writer) measure(root *form) {
	nodes := w.opts.MaxNodes
	if most := w.d.limits.props; most > 0 && !w.d.strict {
		nodes = min(nodes, most)
	}
	b := &budget{w: w, room: 2 * nodes, lost: huge}
	b.push(0, item{root, nil, 0})
	last := len(rungs) - 1
	whole := true
	for level := 0; level < len(b.queue); {
		list := b.queue[level]
		if len(list) == 0 {
			level++
			continue
		}
		if b.room < 0 || b.sum.nodes > nodes || b.sum.bytes[last] > w.bytes {
			whole = false
			break
		}
		it := list[len(list)-1]
		b.queue[level] = list[:len(list)-1]
		b.room++
		level = b.take(level, it)
	}
	for i, r := range rungs {
		if whole && b.sum.nodes <= nodes && b.sum.bytes[i] <= w.bytes {
			w.rung = r
			w.stop = wholeCut
			return
		}
	}
	w.rung = rungs[last]
	w.stop = b.cut(nodes, w.bytes, last)
}

// cut returns the place where the levels measured so far reach the limits.
func (b *budget) cut(nodes, bytes, rung int) cut {
	for level, l := range b.levels {
		if l.nodes > nodes || l.bytes[rung] > bytes || level >= b.lost || len(b.queue[level]) > 0 {
			return cut{level, bytes, nodes} // too large, or not fully measured
		}
		nodes = nodes - l.nodes
		bytes = bytes - l.bytes[rung]
	}
	return cut{len(b.levels), bytes, nodes}
}

func (b *budget) push(level int, it item) {
	for len(b.queue) <= level {
		b.queue = append(b.queue, nil)
		b.levels = append(b.levels, levelSize{})
	}
	b.room--
	if b.room < 0 {
		b.lost = min(b.lost, level)
		return
	}
	b.queue[level] = append(b.queue[level], it)
}

// take measures one form and returns the level to continue with.
func (b *budget) take(level int, it item) int {
	w := b.w
	f := w.r.open(it.f)
	id := f.id()
	if w.defs[id] != "" && level > 0 {
		b.add(level, sizes{}, it.key+len(w.defs[id])+32)
		if b.seen[id] {
			return level
		}
		if b.seen == nil {
			b.seen = map[*form]bool{}
		}
		b.seen[id] = true
		f = w.r.open(id)
		it.up = nil
		level = 1 // the level at which its body is written
	} else if w.r.Named && it.up.count(id) > w.unroll {
		return level
	}
	words, rest := w.weight(f)
	b.add(level, words, rest+it.key)
	if level >= maxLevels {
		return level
	}
	up := it.up
	if w.r.Named {
		up = &frame{id, it.up}
	}
	for i := len(f.props) - 1; i >= 0; i-- { // the queue is a stack: the first property goes last
		b.push(level+1, item{f.props[i].form, up, len(f.props[i].key)})
	}
	c := *f
	c.props = nil
	children(&c, func(kid *form, _ bool) { b.push(level+1, item{kid, up, 16}) })
	return level
}

func (b *budget) add(level int, words sizes, rest int) {
	l := &b.levels[level]
	l.nodes++
	b.sum.nodes++
	for i, n := range words {
		l.bytes[i] += n + rest
		b.sum.bytes[i] += n + rest
	}
}

// weight estimates the bytes of a form without its children: descriptions and enums for each
// rung, and the rest.
func (w *writer) weight(f *form) (words sizes, rest int) {
	n := len(f.desc)
	for _, note := range f.notes {
		n += len(note) + 2
	}
	values := 0
	for _, v := range f.enum[:min(len(f.enum), maxEnum)] {
		values += size(v) + 1
	}
	for i, r := range rungs {
		text := n
		if len(f.enum) > r.values {
			text += min(600, values)
		} else if f.listed {
			words[i] = 9 + values
		}
		if text > 0 && r.words > 0 {
			words[i] += 17 + min(text, r.words)
		}
	}
	rest = 26
	if w.d.keep["title"] && f.title != "" {
		rest += 11 + len(f.title)
	}
	if f.null || w.d.allRequired {
		rest += 9
	}
	for _, n := range f.rest {
		rest += min(400, size(n)) + len(n.Key) + 4
	}
	if len(f.props) > 0 {
		rest += 16
	}
	needed := len(f.required) > 0 || w.d.allRequired && len(f.props) > 0
	if needed {
		rest += 14
	}
	for _, key := range f.required {
		rest += len(key) + 3
	}
	if w.d.allRequired {
		for _, p := range f.props {
			rest += len(p.key) + 3
		}
	}
	if w.d.closed && f.objectLike() || f.more != nil {
		rest += 29
	}
	return words, rest
}

// size estimates the bytes of a value.
func size(n *node) int {
	if len(n.Kids) == 0 {
		return len(n.Text) + 2
	}
	sum := 2
	for _, kid := range n.Kids {
		sum += size(kid) + len(kid.Key) + 4
	}
	return sum
}

// full reports whether this level has no room for optional parts.
func (w *writer) full(level int) bool {
	return level > w.stop.level || level == w.stop.level && (w.stop.bytes <= 0 || w.stop.nodes <= 0)
}

// spend takes bytes from what is left of the last level and returns false when the schema must
// be omitted. Required parts may exceed the limits by a quarter.
func (w *writer) spend(p place, bytes func() int) bool {
	switch {
	case w.Count > 16*w.opts.MaxNodes: // a hard limit, in case the estimate was wrong
		return false
	case p.level < w.stop.level:
		return true
	case p.level > w.stop.level, p.optional && w.full(p.level):
		return false
	}
	w.stop.bytes -= bytes()
	w.stop.nodes--
	return w.stop.bytes > -w.opts.MaxBytes/4 && w.stop.nodes > -w.opts.MaxNodes/4
}

// least is the size of a form on the last rung, including its name.
func (w *writer) least(f *form) int {
	words, rest := w.weight(f)
	return words[len(rungs)-1] + rest + 16
}
