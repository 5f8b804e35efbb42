package mcp

import (
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// BrokenAnswer is the id that an unparsable line answers, such as one with NaN; nil if it is not an answer, as a log line with an id.
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
