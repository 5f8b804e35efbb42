package record

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/state/store"
)

type nowhere struct{}

func (nowhere) AppendCalls(context.Context, []store.Call) error { return nil }

func TestArgumentsAreRedactedAndBounded(t *testing.T) {
	l := New(nowhere{}, &Options{Redact: strings.NewReplacer("hunter2", "***", `":"`, "***").Replace})
	defer l.Close(t.Context())
	long := `{"a":[` + strings.Repeat(`"x", `, maxArguments/5) + `1]}`
	for raw, want := range map[string]string{
		`{"key": ["hunter2"]}`:          `{"key": ["***"]}`,
		`{"a":"b"}`:                     "", // redacting broke it
		long:                            "",
		"{\"a\": \"\xff\"}":             "{\"a\": \"\uFFFD\"}",
		`{"n": 12345678901234567890.0}`: `{"n": 12345678901234567890.0}`,
	} {
		given := []byte(raw)
		if err := l.Add(t.Context(), store.Call{Arguments: &store.Arguments{Sent: given, Fitted: json.RawMessage(`{"k": "hunter2"}`)}}); err != nil {
			t.Fatal(err)
		}
		clear(given) // the room is the call's
		got := l.Last(1)[0].Arguments
		if string(got.Sent) != want || string(got.Fitted) != `{"k": "***"}` {
			t.Errorf("%.40s: sent %.60s, fitted %s", raw, got.Sent, got.Fitted)
		}
	}
}
