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

func indentLines(raw json.RawMessage) []string {
	if len(raw) == 0 {
		return nil
	}
	if text, ok := rawjson.String(raw); ok {
		return strings.Split(text, "\n")
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return strings.Split(string(raw), "\n")
	}
	return strings.Split(b.String(), "\n")
}

// sameJSON compares lines without a comma at the end.
func sameJSON(a, b string) bool { return strings.TrimSuffix(a, ",") == strings.TrimSuffix(b, ",") }
