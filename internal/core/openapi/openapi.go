// Package openapi reads descriptions of HTTP APIs (OpenAPI 3.x, Swagger 2.0, JSON or YAML)
// and makes a tool of every operation: its definition for models, the HTTP request for the
// arguments of a call, and the tool's result for the HTTP response. One unsound place costs
// its operation at most; everything that was found wrong is listed by pointer.
//
// It is pure: bytes in, bytes out. It never opens a connection, never follows a reference
// out of the document, never holds a secret longer than a request lives, and never lets a
// model choose where a request goes or how it is authenticated.
//
//	doc, err := openapi.Read(data, &openapi.Options{Base: "https://api.example.com/v2"})
//	ops, problems := doc.Operations(openapi.Filter{Tags: []string{"pet"}})
//	req, err := ops[0].Request(arguments)
//	err = req.Apply(ops[0].Security()[0][0], secret)
//	result := ops[0].Result(status, header, body)
package openapi

import (
	"cmp"
	"slices"
)

// Options change how a document is read. The zero value suits most callers.
type Options struct {
	Layout    Layout            // default: Flat
	Base      string            // URL of the API; default: the document's servers
	URL       string            // where the document came from; relative servers are relative to it
	Variables map[string]string // values of server variables, in place of their defaults
	MaxBytes  int               // of the document; 0: 64 MB
}

// Layout is how the arguments of a tool are arranged. Requests are the same in both.
type Layout string

const (
	// Flat puts parameters and the properties of a plain object body side by side. A name that
	// occurs in several places gets the place as a suffix in each: id__path, id__body.
	Flat Layout = "flat"
	// Layered groups arguments: header, path, query, cookie, body.
	Layered Layout = "layered"
)

func (o *Options) filled() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Layout == "" {
		c.Layout = Flat
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = 64 << 20
	}
	return c
}

// Problem is something wrong in a document.
type Problem struct {
	Pointer string `json:"pointer"` // JSON pointer to the place
	Message string `json:"message"` // what is wrong, and what was done about it
}

// problems collects problems. A nil collector ignores them.
type problems struct {
	list     []Problem
	reported map[*definition]bool // definitions already reported: many operations share one
}

func (p *problems) add(pointer, message string) {
	if p != nil {
		p.list = append(p.list, Problem{pointer, message})
	}
}

func (p *problems) addAll(def *definition) {
	if p == nil || len(def.wrong) == 0 || p.reported[def] {
		return
	}
	if p.reported == nil {
		p.reported = map[*definition]bool{}
	}
	p.reported[def] = true
	p.list = append(p.list, def.wrong...)
}

// distinct sorts problems by pointer and removes duplicates.
func distinct(list []Problem) []Problem {
	slices.SortFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(list)
}
