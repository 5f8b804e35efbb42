package schema

// advice names what the provider's documents advise against and its service takes.
func (c *checker) advice() []seen {
	a := c.d.advised
	var out []seen
	for _, e := range []struct {
		have, most int
		what       string
	}{{c.props, a.props, "properties"}, {c.deepest, a.levels, "levels"}, {c.enums, a.enums, "enum values"}, {c.mostBranches, a.branches, "branches"}} {
		if e.most > 0 && e.have > e.most {
			out = append(out, seen{c.root, Advised, itoa(e.have) + " " + e.what + ": the provider's documents name " + itoa(e.most)})
		}
	}
	return out
}
