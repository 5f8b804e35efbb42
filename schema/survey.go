package schema

// survey finds out, before anything is written, which definitions stand on a cycle and how
// large the written schema would become.
type survey struct {
	r       *reader
	state   map[*form]int // 1: on the path, 2: done
	uses    map[*form]int
	size    map[*form]int
	onCycle map[*form]bool
	path    []edge
	tight   bool // some cycle passes no optional property
}

// edge is a step from a form to one of its children.
type edge struct {
	form     *form
	optional bool // the child may be absent
}

const huge = 1 << 30

func newSurvey(r *reader, root *form) *survey {
	s := &survey{r: r, state: map[*form]int{}, uses: map[*form]int{}, size: map[*form]int{}, onCycle: map[*form]bool{}}
	s.visit(r.open(root), false)
	return s
}

// children visits the schemas directly in an opened form.
func children(f *form, visit func(child *form, optional bool)) {
	for _, p := range f.props {
		visit(p.form, !f.isRequired(p.key))
	}
	for _, p := range f.patterns {
		visit(p.form, true)
	}
	for _, c := range []*form{f.more, f.items} {
		if c != nil {
			visit(c, false)
		}
	}
	for _, c := range f.prefix {
		visit(c, false)
	}
	for _, c := range f.union {
		visit(c, false)
	}
}

// visit gives the number of nodes below f when cycles are kept as references.
func (s *survey) visit(f *form, optional bool) int {
	id := f.id()
	s.uses[id]++
	switch s.state[id] {
	case 1:
		s.onCycle[id] = true
		loose := optional
		for i := len(s.path) - 1; i >= 0 && s.path[i].form != id; i-- {
			loose = loose || s.path[i].optional
		}
		s.tight = s.tight || !loose
		return 1
	case 2:
		if s.onCycle[id] {
			return 1
		}
		return s.size[id]
	}
	if len(s.path) > maxLevels {
		return huge // writing stops before
	}
	s.state[id] = 1
	s.path = append(s.path, edge{id, optional})
	size := 1
	children(f, func(c *form, optional bool) {
		size = min(huge, size+s.visit(s.r.open(c), optional))
	})
	s.path = s.path[:len(s.path)-1]
	s.state[id], s.size[id] = 2, size
	return size
}

// frame is the way from the root to a form.
type frame struct {
	id *form
	up *frame
}

// times tells how often id stands on the way.
func (f *frame) times(id *form) int {
	n := 0
	for ; f != nil; f = f.up {
		if f.id == id {
			n++
		}
	}
	return n
}

// cut is where writing stops: levels above level are whole, on level itself there is room
// for left more nodes.
type cut struct {
	level, left int
}

// measure walks the expanded schema level by level until the budget is used up.
func (w *writer) measure(root *form) cut {
	type item struct {
		f  *form
		up *frame
	}
	now, next := []item{{root, nil}}, []item(nil)
	nodes, bytes := w.opts.MaxNodes, w.opts.MaxBytes
	if most := w.d.limits.props; most > 0 && !w.d.strict {
		nodes = min(nodes, most)
	}
	for level := 0; len(now) > 0 && level <= maxLevels; level++ {
		for i, it := range now {
			f := w.r.open(it.f)
			id := f.id()
			if it.up.times(id) > w.unroll || w.defs[id] != "" && level > 0 {
				continue
			}
			nodes--
			bytes -= weight(f)
			if nodes < 0 || bytes < 0 {
				return cut{level, i}
			}
			up := &frame{id, it.up}
			children(f, func(c *form, _ bool) { next = append(next, item{c, up}) })
			if len(next) > 4*w.opts.MaxNodes {
				return cut{level + 1, max(0, min(nodes, len(next)/2))}
			}
		}
		now, next = next, now[:0]
	}
	return cut{level: huge}
}

// weight is about how many bytes a form itself takes.
func weight(f *form) int {
	n := 36 + len(f.title) + len(f.desc) // its own key counted
	for i, v := range f.enum {
		if i == maxEnum {
			break
		}
		n += len(v.text) + 3
	}
	return n + 16*len(f.rest)
}
