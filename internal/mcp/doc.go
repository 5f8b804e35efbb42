// Package mcp is the wire of the Model Context Protocol and nothing above it: messages,
// sessions, and the HTTP and stdio fronts, over one small Handler. Messages are split,
// never decoded: params and results travel as the bytes that came in.
//
// It serves the legacy revisions (2024-11-05 to 2025-11-25). A request of the 2026-07-28
// era is recognised and answered with the versions that are served, so that its client
// falls back; the seam for that era is Request, whose Session is nil there.
//
// It knows nothing of tools, profiles or keys. A front is given an Entry for each request:
//
//	front := mcp.NewFront(sessions, nil)
//	front.Serve(w, r, mcp.Entry{Owner: "key-1", Group: "default", Info: info, Handler: h})
package mcp
