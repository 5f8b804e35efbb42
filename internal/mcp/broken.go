package mcp

import (
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// BrokenAnswer is the id of the request that a line was meant to answer which Parse refuses:
// it has NaN in it, say, or is nested too deep. Nil when it was meant for something else: an
// id makes no answer of what a server prints beside the protocol, as its log does.
func BrokenAnswer(line []byte) json.RawMessage {
	answers := false
	for w := rawjson.Object(line); w.Step(); {
		answers = answers || string(w.Key) == "result" || string(w.Key) == "error"
		if !w.Skip() {
			break
		}
	}
	ends := LongLineError{Head: line, Tail: line[max(0, len(line)-keepEnds):]}
	id, hasMethod := ends.ID()
	if !answers || hasMethod {
		return nil
	}
	return id
}
