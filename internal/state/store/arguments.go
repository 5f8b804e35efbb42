package store

import (
	"bytes"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Arguments are a call's arguments as sent and as the tool got them. A part that was too long to
// store is nil, and so is Fitted if the tool got none.
type Arguments struct {
	Sent   json.RawMessage `json:"sent,omitempty"`
	Fitted json.RawMessage `json:"fitted,omitempty"`
}

// NewArguments returns what to record: nil if the tool got the arguments as sent, the usual case.
func NewArguments(sent, fitted json.RawMessage) *Arguments {
	absent := rawjson.IsNull(sent) && (rawjson.IsNull(fitted) || string(fitted) == "{}")
	if absent || bytes.Equal(sent, fitted) {
		return nil
	}
	return &Arguments{sent, fitted}
}

// sealArguments returns a call's arguments as they are stored, nil if there are none.
func (o *Options) sealArguments(c *Call) []byte {
	if c.Arguments == nil {
		return nil
	}
	return o.SecretKey.seal(argumentsRow(c.ID), c.Arguments.text())
}

// text writes both parts unchanged; encoding/json would reformat them.
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

// openArguments reverses sealArguments. Arguments that cannot be decrypted are left out: the
// record is useful without them.
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

// argumentsRow is what sealed arguments are bound to. Changing it makes stored ones unreadable.
func argumentsRow(id string) string { return "calls/arguments/" + id }
