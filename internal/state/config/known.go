package config

import (
	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/core/fit"
)

// readKnown reads facts about servers: aliases, units, renamed tools.
func (c *draft) readKnown(d *decoder, at place, n *node) {
	d.items(at, n, func(inner place, item *node) {
		if !d.expect(inner, item, doctree.Mapping) {
			return
		}
		known, err := fit.ParseKnown(d.value(inner, item))
		if err != nil {
			d.fail(inner, "%s", err)
			return
		}
		c.Known = append(c.Known, known)
	})
}

// readRepairs accepts false for none, or a mapping that disables repairs.
func (p *Profile) readRepairs(d *decoder, at place, n *node) {
	if n.Kind != doctree.Mapping {
		on := true
		boolInto(&on)(d, at, n)
		if !on {
			p.Without = fit.Kinds
		}
		return
	}
	var fields []field
	switches := make([]bool, len(fit.Kinds))
	for i, kind := range fit.Kinds {
		switches[i] = true
		fields = append(fields, field{string(kind), boolInto(&switches[i])})
	}
	d.object(at, n, fields)
	for i, on := range switches {
		if !on {
			p.Without = append(p.Without, fit.Kinds[i])
		}
	}
}
