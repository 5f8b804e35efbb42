package picker

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// message is a message of a page.
type message struct {
	kind       string // registerSession, refreshEnvList or envId
	session    string // with registerSession
	envID      string // with envId, as the rest
	canceled   bool
	switchUser bool
}

// parseMessage reads a message; false unless it is one of the three kinds, exactly. Unknown
// messages must never end a wait.
func parseMessage(data []byte) (m message, ok bool) {
	if !utf8.Valid(data) {
		return m, false
	}
	members := map[string]json.RawMessage{}
	w := rawjson.Object(data)
	for w.Next() {
		if members[string(w.Key)] != nil {
			return m, false
		}
		members[string(w.Key)] = w.Value
	}
	if w.Err() != nil {
		return m, false
	}
	m.kind, _ = rawjson.String(members["type"])
	switch m.kind {
	case "registerSession":
		m.session, ok = rawjson.String(members["sessionId"])
		return m, ok
	case "refreshEnvList":
		return m, true
	case "envId":
		return m.readAnswer(members)
	}
	return m, false
}

// readAnswer reads the decision: exactly one of an environment, cancel, and switch.
func (m message) readAnswer(members map[string]json.RawMessage) (message, bool) {
	var canceled, switches bool
	m.canceled, canceled = readBool(members["cancelled"])
	m.switchUser, switches = readBool(members["switch"])
	if !canceled || !switches || m.canceled && m.switchUser {
		return m, false
	}
	if m.canceled || m.switchUser {
		return m, true
	}
	m.envID, _ = rawjson.String(members["data"])
	return m, m.envID != ""
}

// readBool reads a boolean; missing is false.
func readBool(raw json.RawMessage) (value, ok bool) {
	return string(raw) == "true", rawjson.IsNull(raw) || string(raw) == "true" || string(raw) == "false"
}

// listed is the message with rows, or with the reason why there are none.
func listed(rows json.RawMessage, problem string) []byte {
	b := []byte(`{"type":"envListRefreshed","envs":`)
	if len(rows) == 0 {
		rows = json.RawMessage("[]")
	}
	b = append(b, rows...)
	if problem == "" {
		return append(b, `,"success":true}`...)
	}
	return append(rawjson.AppendString(append(b, `,"success":false,"error":`...), problem), '}')
}

func picked(id string) []byte {
	return append(rawjson.AppendString([]byte(`{"type":"success","envId":`), id), '}')
}
