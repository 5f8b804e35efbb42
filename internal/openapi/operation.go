package openapi

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"github.com/toolfit/toolfit/internal/origin"
)

// Operation is one operation of a document, as a tool. It is safe for concurrent use.
type Operation struct {
	Name       string // of the tool; unique in the document
	ID         string // the document's operationId; "" without one
	Method     string
	Path       string
	Tags       []string
	Definition json.RawMessage // of the tool; read-only
	Base       string          // where its requests begin, as the document has it; "" where that is no address
	Origin     string          // scheme, host and port of Base

	doc   *Document
	entry *entry
	once  sync.Once
	known *plan
}

// Operations makes tools of the operations that the filter takes and that are sound. The
// problems are those of the document and of these operations, in the order of pointers.
func (d *Document) Operations(f Filter) ([]*Operation, []Problem) {
	bad := problems{list: slices.Clone(d.problems)}
	var out []*Operation
	var scratch []byte
	for _, e := range d.entries {
		if !f.takes(e) {
			continue
		}
		op := parse(e.at.raw, e.at.pointer)
		p := d.plan(e, op, &bad)
		if p == nil {
			continue
		}
		var ok bool
		if scratch, ok = d.appendTool(scratch[:0], e, op, p, &bad); !ok {
			continue
		}
		o := &Operation{
			Name: e.name, ID: e.id, Method: e.method, Path: e.path, Tags: e.tags, Definition: bytes.Clone(scratch), doc: d, entry: e,
		}
		if at, err := p.base("", d.opts); err == nil {
			o.Base, o.Origin = at.String(), origin.Of(at)
		}
		out = append(out, o)
	}
	return out, distinct(bad.list)
}

// plan is read again when the operation is first used: most of a large document never is.
func (op *Operation) plan() *plan {
	op.once.Do(func() { op.known = op.doc.plan(op.entry, parse(op.entry.at.raw, op.entry.at.pointer), nil) })
	return op.known
}

// Security lists the alternatives to authenticate with: all schemes of one of them are
// needed. None: nothing is. An alternative without schemes says that nothing need be given.
func (op *Operation) Security() [][]Scheme { return op.plan().security }

// Servers lists where the operation can be reached, the preferred one first.
func (op *Operation) Servers() []Server { return op.plan().servers }

// ReadOnly tells whether the operation changes nothing, by the rules of HTTP.
func (op *Operation) ReadOnly() bool { return isReadOnly(op.Method) }
