package openapi

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"sync"

	"github.com/toolfit/toolfit/internal/base/origin"
)

// Operation is one operation of a document, as a tool. It is safe for concurrent use.
type Operation struct {
	Name       string // of the tool; unique in the document
	ID         string // the document's operationId; "" without one
	Method     string
	Path       string
	Tags       []string
	Definition json.RawMessage // of the tool; read-only
	Base       string          // where its requests begin; "" where that is no address
	Origin     string          // scheme, host and port of Base

	at    *url.URL // Base; nil where it is no address
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
	var last *plan // most operations are where the one before is
	var at *url.URL
	var base, host string
	for _, e := range d.entries {
		if !f.takes(e) {
			continue
		}
		op := d.operation(e)
		p := d.plan(e, op, &bad)
		if p == nil {
			continue
		}
		var ok bool
		scratch, ok = d.appendTool(scratch[:0], e, op.node, p, &bad)
		if !ok {
			continue
		}
		if last == nil || !p.sameServer(last) {
			base = ""
			host = ""
			at, _ = d.base(p)
			if at != nil { // Request says why there is none
				base = at.String()
				host = origin.Of(at)
			}
			last = p
		}
		out = append(out, &Operation{
			Name: e.name, ID: e.id, Method: e.method, Path: e.path, Tags: e.tags, Definition: bytes.Clone(scratch), Base: base, Origin: host, at: at, doc: d, entry: e,
		})
	}
	return out, distinct(bad.list)
}

// plan is read again when the operation is first used: most of a large document never is.
func (op *Operation) plan() *plan {
	op.once.Do(func() {
		op.known = op.doc.plan(op.entry, op.doc.operation(op.entry), nil)
	})
	return op.known
}

// Security lists the alternatives to authenticate with: all schemes of one of them are
// needed. None: nothing is. An alternative without schemes says that nothing need be given.
func (op *Operation) Security() [][]Scheme { return op.plan().security }

// Servers lists where the operation can be reached, the preferred one first.
func (op *Operation) Servers() []Server { return op.plan().servers }

// ReadOnly reports whether the operation changes nothing, by the rules of HTTP.
func (op *Operation) ReadOnly() bool { return isReadOnly(op.Method) }
