package env

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

func readAnswer(structured json.RawMessage, text string, into any) error {
	plain, wantsText := into.(*string)
	switch {
	case into == nil:
		return nil
	case !rawjson.IsNull(structured):
		return decode(structured, into)
	case wantsText:
		*plain = text
		return nil
	case text == "":
		return errors.New("it is empty")
	case rawjson.Check([]byte(text)) != nil:
		return fmt.Errorf("expected JSON, got %.100q", text)
	}
	return decode([]byte(text), into)
}

// decode reads JSON. Its errors name JSON types, as the server may not be written in Go.
func decode(raw json.RawMessage, into any) error {
	err := json.Unmarshal(raw, into)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return fmt.Errorf("%s cannot be JSON of the kind %s", wrong.Field, wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Errorf("it cannot be JSON of the kind %s", wrong.Value)
	}
	return err
}

// textOf returns the first text in a result.
func textOf(result json.RawMessage) string {
	w := rawjson.Array(rawjson.Get(result, "content"))
	for w.Next() {
		if text, ok := rawjson.String(rawjson.Get(w.Value, "text")); ok {
			return text
		}
	}
	return ""
}

// codeBefore is what some libraries prepend to every error.
var codeBefore = regexp.MustCompile(`^MCP error -?\d+: `)

// errorIn returns the error that a tool answered with.
func errorIn(tool, text string) error {
	said := rawjson.Get([]byte(text), "error")
	for _, member := range []json.RawMessage{rawjson.Get(said, "message"), said} {
		if message, ok := rawjson.String(member); ok {
			text = message
			break
		}
	}
	text = codeBefore.ReplaceAllString(text, "")
	for _, kind := range []string{"Profile", "Agent", "Session"} {
		if id, found := strings.CutPrefix(text, kind+" not found: "); found {
			return &NotFoundError{kind, id}
		}
	}
	if rest, taken := strings.CutPrefix(text, ErrTaken.Error()); taken {
		return fmt.Errorf("%w%s", ErrTaken, rest)
	}
	if text == "" {
		text = "it was refused without a reason"
	}
	return &ToolError{Tool: tool, Message: text}
}
