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
	Base       string          // URL prefix of its requests; "" if it is not a valid address
	Origin     string          // scheme, host and port of Base

	at    *url.URL // Base, parsed; nil if invalid
	doc   *Document
	entry *entry
	once  sync.Once
	known *plan
}

// Operations returns tools for the valid operations that match the filter. The problems are
// those of the document and of these operations, by pointer.
func (d *Document) Operations(f Filter) ([]*Operation, []Problem) {
	bad := problems{list: slices.Clone(d.problems)}
	var out []*Operation
	var scratch []byte
	var last *plan // consecutive operations usually have the same server
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
			if at != nil { // otherwise Request returns the error
				base = at.String()
				host = origin.Of(at)
			}
			last = p
		}
		out = append(out, &Operation{
			Name: e.name, ID: e.id, Method: e.method, Path: e.path, Tags: e.tags,
			Definition: bytes.Clone(scratch), Base: base, Origin: host, at: at, doc: d, entry: e,
		})
	}
	return out, distinct(bad.list)
}

// plan is read again on first use: most operations of a large document are never called.
func (op *Operation) plan() *plan {
	op.once.Do(func() {
		op.known = op.doc.plan(op.entry, op.doc.operation(op.entry), nil)
	})
	return op.known
}

// Security lists the alternative ways to authenticate; each needs all of its schemes. An empty
// list means no authentication, an alternative without schemes that it is optional.
func (op *Operation) Security() [][]Scheme { return op.plan().security }

// Servers lists where the operation can be reached, preferred server first.
func (op *Operation) Servers() []Server { return op.plan().servers }

// ReadOnly reports whether the method is safe in HTTP's sense.
func (op *Operation) ReadOnly() bool { return isReadOnly(op.Method) }
