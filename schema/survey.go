package schema

// survey finds, before anything is written, the definitions that are part of a cycle and the
// size of the output.
type survey struct {
	r     *reader
	run   int32
	count int32 // forms seen
	path  []edge
	tight bool // some cycle passes through no optional property
}

// mark is what the last survey found about a form.
type mark struct {
	run     int32 // number of the survey; marks of older ones are ignored
	state   uint8 // 1: on the path, 2: done
	onCycle bool
	uses    int32
	size    int32
}

// edge leads from a form to one of its children.
type edge struct {
	form     *form
	optional bool // the child may be absent
}

const huge = 1 << 30

func newSurvey(r *reader, root *form) *survey {
	r.surveys++
	s := &survey{r: r, run: r.surveys}
	s.visit(r.open(root), false)
	return s
}

// of returns the mark of this survey on a form.
func (s *survey) of(id *form) *mark {
	if id.mark.run != s.run {
		id.mark = mark{run: s.run}
		s.count++
	}
	return &id.mark
}

// children visits the direct subschemas of an opened form.
func children(f *form, visit func(child *form, optional bool)) {
	for _, p := range f.props {
		visit(p.form, !f.isRequired(p.key))
	}
	for _, p := range f.patterns {
		visit(p.form, true)
	}
	if f.more != nil {
		visit(f.more, false)
	}
	if f.items != nil {
		visit(f.items, false)
	}
	for _, c := range f.prefix {
		visit(c, false)
	}
	for _, c := range f.union {
		visit(c, false)
	}
}

// visit returns the number of nodes below f when cycles are kept as references.
func (s *survey) visit(f *form, optional bool) int32 {
	id := f.id()
	m := s.of(id)
	m.uses++
	switch m.state {
	case 1:
		m.onCycle = true
		loose := optional
		for i := len(s.path) - 1; i >= 0 && s.path[i].form != id; i-- {
			loose = loose || s.path[i].optional
		}
		s.tight = s.tight || !loose
		return 1
	case 2:
		if m.onCycle {
			return 1
		}
		return m.size
	}
	if len(s.path) > maxLevels {
		return huge // beyond the size limit
	}
	m.state = 1
	s.path = append(s.path, edge{id, optional})
	size := int32(1)
	children(f, func(c *form, optional bool) {
		size = min(huge, size+s.visit(s.r.open(c), optional))
	})
	s.path = s.path[:len(s.path)-1]
	m.state = 2
	m.size = size
	return size
}

// frame is the path from the root to a form.
type frame struct {
	id *form
	up *frame
}

// count returns how often id occurs on the path.
func (f *frame) count(id *form) int {
	n := 0
	for ; f != nil; f = f.up {
		if f.id == id {
			n++
		}
	}
	return n
}
