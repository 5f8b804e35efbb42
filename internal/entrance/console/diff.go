package console

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/toolfit/toolfit/internal/base/linediff"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// diffJSON compares two JSON values line by line, or the lines of two JSON strings.
func diffJSON(old, now json.RawMessage) []linediff.Line {
	return linediff.Shorten(linediff.Compare(indentLines(old), indentLines(now), sameJSON))
}

// maxIndented is how many bytes of a value are made into lines. Deep values would be much longer indented than they are.
const maxIndented = 1 << 20

// indentLines are the lines of a JSON value, or of a text, up to maxIndented bytes.
func indentLines(raw json.RawMessage) []string {
	if len(raw) == 0 {
		return nil
	}
	text, isText := rawjson.String(raw)
	var plain bytes.Buffer
	switch {
	case isText:
	case json.Compact(&plain, raw) == nil:
		text = string(indented(plain.Bytes(), maxIndented))
	default:
		text = string(raw)
	}
	return strings.Split(text[:min(len(text), maxIndented)], "\n")
}

// sameJSON compares lines without a comma at the end.
func sameJSON(a, b string) bool { return strings.TrimSuffix(a, ",") == strings.TrimSuffix(b, ",") }
