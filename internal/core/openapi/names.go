package openapi

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

type node = jsonschema.Node

// names resolves references by $id, $anchor and $dynamicAnchor. Documents that use them are
// rare, and are parsed completely.
type names struct {
	mu    sync.Mutex
	index *jsonschema.Index
}

// names returns the names of the document, found once; nil if there are none.
func (d *Document) names() *names {
	d.index.naming.Do(func() {
		if d.format != openapi31 || !bytes.Contains(d.raw, []byte(`"$id"`)) && !bytes.Contains(d.raw, []byte(`nchor"`)) {
			return
		}
		root := jsonschema.ParseAt(d.raw, "")
		x := jsonschema.NewIndexAt(root, jsonschema.Draft2020, d.opts.URL)
		addSchemas(x, root)
		d.index.names = &names{index: x}
	})
	return d.index.names
}

// addSchemas finds the schemas in parameters, bodies, headers and responses.
func addSchemas(x *jsonschema.Index, n *node) {
	for _, kid := range n.Kids {
		switch {
		case jsonschema.Keywords[kid.Key].Note, strings.HasPrefix(kid.Key, "x-"):
		case kid.Key == "schema":
			x.Add(kid)
		default:
			addSchemas(x, kid)
		}
	}
}

func (s *names) resolve(ref string, from *node) (place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.find(ref, from)
	return placeOf(n), err
}

func (s *names) find(ref string, from *node) (*node, error) {
	var home *node
	if from != nil {
		home = s.index.At(from.Pointer())
	}
	switch at := s.index.Lookup(home, ref); {
	case at.External:
		return nil, errElsewhere(ref)
	case at.Node == nil:
		return nil, errNowhere(ref)
	default:
		return at.Node, nil
	}
}

func placeOf(n *node) place {
	if n == nil {
		return place{}
	}
	return place{[]byte(n.Text), n.Pointer()}
}

// dynamic resolves a dynamic reference to the outermost schema with its name. If the document
// itself does not have that name, it must be unique.
func (s *names) dynamic(ref *node) (place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.find(ref.Text, ref)
	if err != nil {
		return place{}, err
	}
	name := n.Str("$dynamicAnchor")
	if name == "" || !strings.HasSuffix(ref.Text, "#"+name) {
		return placeOf(n), nil
	}
	meanings := 0
	outermost := false
	s.index.Dynamic(name, func(resource, _ *node) {
		meanings++
		outermost = outermost || resource.Parent == nil
	})
	if meanings > 1 && !outermost {
		return place{}, fmt.Errorf("the dynamic reference %q has %d meanings", ref.Text, meanings)
	}
	return placeOf(s.index.Outermost(n)), nil
}
