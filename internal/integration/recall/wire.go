package recall

import (
	"bytes"
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/integration/recall/toon"
	"github.com/toolfit/toolfit/internal/state/access"
)

// The types of answers.
const (
	jsonType = "application/json; charset=utf-8"
	toonType = "application/toon"
)

// wantsTOON reads response_format.
func wantsTOON(r *http.Request) (bool, error) {
	values, given := r.URL.Query()["response_format"]
	if !given {
		return false, nil
	}
	switch values[0] {
	case "json":
		return false, nil
	case "toon":
		return true, nil
	}
	return false, wrong("response_format", "format", clipped(values[0]))
}

// write sends an answer in the form that was asked for.
func (s *Service) write(w http.ResponseWriter, r *http.Request, a answer, wanted bool) {
	if a.release != nil {
		defer a.release()
	}
	if !wanted || !a.toon {
		send(w, http.StatusOK, jsonType, a.body[:a.more.Start], a.more.New, a.body[a.more.End:])
		return
	}
	text, err := toon.Encode(rawjson.AppendSplice(nil, a.body, a.more))
	if err != nil {
		s.Refuse(w, r, broken("tool", say("reason.notObject"), err))
		return
	}
	send(w, http.StatusOK, toonType, text)
}

// send writes an answer whose body comes in pieces.
func send(w http.ResponseWriter, status int, kind string, pieces ...[]byte) {
	length := 0
	for _, p := range pieces {
		length += len(p)
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(length))
	w.WriteHeader(status)
	for _, p := range pieces {
		if len(p) > 0 {
			w.Write(p) // a caller that has left needs no answer
		}
	}
}

// readObject reads a body that is one JSON object. An empty one counts as {}.
func (s *Service) readObject(r *http.Request) ([]byte, error) {
	limit := s.Config.Limits.Body
	data, err := access.ReadBody(r, limit)
	switch {
	case fault.Is(err, fault.TooLarge):
		return nil, &problem{status: http.StatusRequestEntityTooLarge, details: details{"field": "body", "limit": limit}}
	case err != nil:
		return nil, &problem{status: http.StatusBadRequest, details: details{"field": "body", "reason": say("reason.unread")}, cause: err}
	}
	if kindOf(data) == "nothing" {
		return []byte("{}"), nil
	}
	if err := rawjson.Check(data); err != nil {
		return nil, wrong("body", "object", say("got.notJSON", err))
	}
	if !utf8.Valid(data) {
		return nil, wrong("body", "utf8", say("got.otherBytes"))
	}
	if kind := kindOf(data); kind != "object" {
		return nil, wrong("body", "object", kind)
	}
	return data, nil
}

var kinds = map[byte]string{'{': "object", '[': "array", '"': "string", 't': "boolean", 'f': "boolean", 'n': "null"}

// kindOf names the type of a JSON value.
func kindOf(value []byte) string {
	value = bytes.TrimLeft(value, " \t\r\n")
	if len(value) == 0 {
		return "nothing"
	}
	return cmp.Or(kinds[value[0]], "number")
}

// clipped keeps what a caller sent from filling its answer.
func clipped(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
