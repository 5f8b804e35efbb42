// Package mcp is the wire of the Model Context Protocol and nothing above it: messages,
// sessions, the HTTP and stdio fronts over one small Handler, and a bridge between the two.
// Messages are split, never decoded: params and results travel as the bytes that came in.
//
// It serves both eras of the protocol: the legacy revisions (2024-11-05 to 2025-11-25), whose
// requests come in a Session, and 2026-07-28, whose requests describe themselves in Meta.
// A modern client gets notifications outside of its requests through Request.Listen.
//
// A handler that has much to do can have its request answered before it returns: Request.AnswerNow.
//
// It knows nothing about tools, profiles or keys. A front is given an Entry for each request:
//
//	front := mcp.NewFront(sessions, nil)
//	front.Serve(w, r, mcp.Entry{Owner: "key-1", Group: "default", Info: info, Handler: h})
package mcp
