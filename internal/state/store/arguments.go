package store

import (
	"bytes"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Arguments are those of a call as they were sent and as the tool got them. A part that was
// too long to be kept is nil, and so is Fitted where the tool got none.
type Arguments struct {
	Sent   json.RawMessage `json:"sent,omitempty"`
	Fitted json.RawMessage `json:"fitted,omitempty"`
}

// NewArguments is what a record has of a call's arguments: nil where the tool got them as they
// were sent, which is nearly always.
func NewArguments(sent, fitted json.RawMessage) *Arguments {
	absent := rawjson.IsNull(sent) && (rawjson.IsNull(fitted) || string(fitted) == "{}")
	if absent || bytes.Equal(sent, fitted) {
		return nil
	}
	return &Arguments{sent, fitted}
}

// sealArguments returns a call's arguments as they are stored, nil where there are none:
// encrypted where there is a key, like those that are kept with results.
func (o *Options) sealArguments(c *Call) []byte {
	if c.Arguments == nil {
		return nil
	}
	return o.SecretKey.seal(argumentsRow(c.ID), c.Arguments.text())
}

// text is both parts as they are, where encoding/json would write them anew.
func (a *Arguments) text() []byte {
	b := []byte{'{'}
	if a.Sent != nil {
		b = append(append(b, `"sent":`...), a.Sent...)
	}
	if a.Fitted != nil {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(b, `"fitted":`...), a.Fitted...)
	}
	return append(b, '}')
}

// openArguments is the way back. The record is of use without them, so those that cannot be
// read, because the key is another one now, are left out.
func (o *Options) openArguments(id string, sealed []byte) *Arguments {
	if len(sealed) == 0 {
		return nil
	}
	text, err := o.SecretKey.open("call "+id, argumentsRow(id), sealed)
	if err != nil {
		return nil
	}
	a := new(Arguments)
	if json.Unmarshal(text, a) != nil {
		return nil
	}
	return a
}

// argumentsRow is what sealed arguments are bound to. Another text would make every stored
// one unreadable.
func argumentsRow(id string) string { return "calls/arguments/" + id }
