package schema

// Forward maps arguments of the original schema to what a model would send for
// Parameters. It is the inverse of Back, for examples and tests: Back of Forward is the
// arguments themselves, but for nulls that the dialect cannot tell from absence.
func (res *Result) Forward(args []byte) ([]byte, error) {
	b := &backer{steps: res.steps}
	n, err := b.parse(args)
	if err != nil {
		return nil, &Error{BadArguments, "", err.Error()}
	}
	return b.forward(n, res.root).append(nil), nil
}

func (b *backer) forward(v *node, at int) *node {
	for range len(b.steps) + 1 {
		if at <= 0 || at > len(b.steps) {
			return v
		}
		if b.steps[at-1].Kind != stepGoto {
			break
		}
		at = b.steps[at-1].Item
	}
	s := &b.steps[at-1]
	switch s.Kind {
	case stepUnwrap:
		out, inner := b.new(objectKind), b.forward(v, s.Item)
		inner.key = wrapKey
		out.kids = []*node{inner}
		return out
	case stepObject:
		return b.forwardObject(v, s)
	case stepArray:
		if v.kind != arrayKind {
			return v
		}
		for i, kid := range v.kids {
			step := s.Item
			if i < len(s.Prefix) {
				step = s.Prefix[i]
			}
			v.kids[i] = b.forward(kid, step)
		}
	case stepPairs:
		return b.forwardPairs(v, s)
	case stepJSON:
		out := b.new(stringKind)
		out.key, out.text = v.key, v.String()
		return out
	case stepEnum:
		for _, e := range s.Table {
			if v.kind != stringKind && b.means(v, e.Value) {
				out := b.new(stringKind)
				out.key, out.text = v.key, e.Text
				return out
			}
		}
	case stepUnion:
		for i := range s.Branches {
			var t tree
			c, _ := t.parse(v.append(nil))
			c.key = v.key
			if c = b.forward(c, s.Branches[i].Step); accepts(s.Branches[i].test, c) {
				return c
			}
		}
	}
	return v
}

// means tells whether a value is the one of a table, however it is written.
func (b *backer) means(v *node, value []byte) bool {
	if v.kind == numberKind {
		x, ok := number(v.text)
		y, ok2 := number(string(value))
		return ok && ok2 && x.Cmp(y) == 0
	}
	literal, err := b.parse(value)
	return err == nil && alike(literal, v)
}

func (b *backer) forwardObject(v *node, s *step) *node {
	if v.kind != objectKind {
		return v
	}
	byName := make(map[string]*stepProp, len(s.Props))
	for i := range s.Props {
		byName[s.Props[i].Name] = &s.Props[i]
	}
	seen := map[string]bool{}
	for i, kid := range v.kids {
		p := byName[kid.key]
		if p == nil {
			v.kids[i] = b.forward(kid, s.Rest)
			continue
		}
		seen[p.Name] = true
		key := p.Shown
		kid = b.forward(kid, p.Step)
		kid.key = key
		v.kids[i] = kid
	}
	for i := range s.Props {
		if p := &s.Props[i]; p.DropNull && !seen[p.Name] {
			null := b.new(nullKind)
			null.key = p.Shown
			v.kids = append(v.kids, null)
		}
	}
	return v
}

func (b *backer) forwardPairs(v *node, s *step) *node {
	if v.kind != objectKind {
		return v
	}
	out := b.new(arrayKind)
	out.key = v.key
	for _, kid := range v.kids {
		pair, key := b.new(objectKind), b.new(stringKind)
		key.key, key.text = "key", kid.key
		value := b.forward(kid, s.Item)
		value.key = "value"
		pair.kids = []*node{key, value}
		out.kids = append(out.kids, pair)
	}
	return out
}
