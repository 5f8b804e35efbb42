package mcp

import (
	"bytes"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// ProgressToken finds where a request's progress token stands in its params; zero when it
// wants no progress. Few do, so the bytes are searched before they are walked.
func ProgressToken(params json.RawMessage) (at [2]int) {
	if !bytes.Contains(params, []byte("progressToken")) {
		return at
	}
	w := rawjson.Object(params)
	for w.Next() {
		if string(w.Key) != "_meta" {
			continue
		}
		m := rawjson.Object(w.Value)
		for m.Next() {
			if string(m.Key) == "progressToken" && !rawjson.IsNull(m.Value) {
				return [2]int{w.Start + m.Start, w.Start + m.End}
			}
		}
	}
	return at
}
