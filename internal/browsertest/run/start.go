package run

import (
	"encoding/json"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// starts begin the errors of a browser that a server cannot start or reach.
var starts = []string{"browserType.launch", "browserType.connectOverCDP", "async initializeServer"}

// notStarted is the error of a server that has no browser; nil for any other answer.
func notStarted(raw json.RawMessage) *snapshot.Error {
	content := rawjson.Array(rawjson.Get(raw, "content"))
	if !content.Next() {
		return nil
	}
	text, _ := rawjson.String(rawjson.Get(content.Value, "text"))
	if strings.HasPrefix(text, "### ") {
		_, text, _ = strings.Cut(text, "\n")
	}
	first, logs, _ := strings.Cut(text, "\n")
	for _, start := range starts {
		_, what, found := strings.Cut(first, start)
		if !found {
			continue
		}
		if _, after, ok := strings.Cut(what, ": "); ok {
			what = after
		}
		if _, said, ok := strings.Cut(logs, "[err] "); ok { // the browser itself
			what, _, _ = strings.Cut(said, "\n")
		}
		const most = 300
		what = strings.TrimSpace(what)
		what = strings.ToValidUTF8(what[:min(most, len(what))], "")
		return &snapshot.Error{Code: snapshot.ServerGone, Message: "the browser cannot be started or reached: " + what}
	}
	return nil
}
