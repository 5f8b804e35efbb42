package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Message is one JSON-RPC message, split into its raw members.
type Message struct {
	ID     json.RawMessage // nil when absent
	Method string
	Params json.RawMessage // nil when absent
	Result json.RawMessage // nil when absent
	Error  json.RawMessage // nil when absent

	Longest rawjson.Span // the longest string in Result, for those who need not look for its end again; zero: not known
}

// IsRequest tells whether the message needs an answer.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsNotification tells whether the message is a notification, which gets no answer.
func (m *Message) IsNotification() bool { return m.Method != "" && m.ID == nil }

// IsResponse tells whether the message answers a request.
func (m *Message) IsResponse() bool { return m.Method == "" && m.ID != nil }

// request is the message as a request of the session's.
func (m *Message) request(s *Session, client Peer) *Request {
	return &Request{ID: m.ID, Method: m.Method, Params: m.Params, Session: s, Client: client}
}

// Parse splits one message into slices of data. Members that decide where it goes must be there
// once and spelled exactly: otherwise two readers could disagree about what was asked.
func Parse(data []byte) (Message, error) {
	var m Message
	var method []byte
	w := rawjson.Object(data)
	w.Longest = new(rawjson.Span)
	for w.Next() {
		var slot *json.RawMessage
		switch string(w.Key) {
		case "id":
			slot = &m.ID
		case "method":
			slot = (*json.RawMessage)(&method)
		case "params":
			slot = &m.Params
		case "result":
			slot = &m.Result
		case "error":
			slot = &m.Error
		default:
			if Lookalike(w.Key, "id", "method", "params", "result", "error") {
				return Message{}, Errorf(CodeInvalidRequest, "member %q is a misspelling", w.Key)
			}
			continue
		}
		if *slot != nil {
			return Message{}, Errorf(CodeInvalidRequest, "member %q stands there twice", w.Key)
		}
		*slot = w.Value
		if slot == &m.Result && w.Longest.Start >= w.Start {
			m.Longest = rawjson.Span{Start: w.Longest.Start - w.Start, End: w.Longest.End - w.Start}
		}
	}
	if err := w.Err(); err != nil {
		return Message{}, &Error{Code: CodeParse, Message: err.Error()}
	}
	return m.check(method)
}

func (m Message) check(method []byte) (Message, error) {
	if method != nil {
		s, ok := rawjson.String(method)
		if !ok || s == "" {
			return Message{}, Errorf(CodeInvalidRequest, "method must be a string that is not empty")
		}
		m.Method = s
	}
	if m.ID != nil && !validID(m.ID) {
		if m.Method == "" && string(m.ID) == "null" && m.Error != nil {
			return m, nil // an answer to something that could not be read
		}
		return Message{}, Errorf(CodeInvalidRequest, "id must be a string or an integer")
	}
	if m.Method == "" && m.Result != nil && m.Error != nil { // some write the absent one as null
		switch {
		case string(m.Error) == "null":
			m.Error = nil
		case string(m.Result) == "null":
			m.Result = nil
		}
	}
	switch {
	case m.Method != "" && (m.Result != nil || m.Error != nil):
		return Message{}, Errorf(CodeInvalidRequest, "a request may not carry a result or an error")
	case m.Method != "" && m.Params != nil && m.Params[0] != '{':
		return Message{}, Errorf(CodeInvalidRequest, "params must be an object")
	case m.Method == "" && (m.Result == nil) == (m.Error == nil):
		return Message{}, Errorf(CodeInvalidRequest, "a message needs a method, or a result or an error")
	case m.Method == "" && m.ID == nil:
		return Message{}, Errorf(CodeInvalidRequest, "an answer needs the id of its request")
	}
	return m, nil
}

func validID(id json.RawMessage) bool {
	if id[0] == '"' {
		return true
	}
	return (id[0] == '-' || id[0] >= '0' && id[0] <= '9') && !bytes.ContainsAny(id, ".eE")
}

// Lookalike tells whether key differs from one of the names only in case, by Unicode's rules: some readers take it for the name.
func Lookalike(key []byte, names ...string) bool {
	for _, name := range names {
		if string(key) != name && bytes.EqualFold(key, []byte(name)) {
			return true
		}
	}
	return false
}

const head = `{"jsonrpc":"2.0"`

// AppendRequest appends a request with a numeric id.
func AppendRequest(dst []byte, id int64, method string, params []byte) []byte {
	dst = append(dst, head+`,"id":`...)
	dst = strconv.AppendInt(dst, id, 10)
	return appendMethod(dst, method, params)
}

// encode writes the message anew; nil is none.
func (m *Message) encode() []byte {
	switch {
	case m == nil:
		return nil
	case m.IsNotification():
		return AppendNotification(nil, m.Method, m.Params)
	case m.IsRequest():
		return appendRequest(nil, m.ID, m.Method, m.Params)
	case m.Error != nil:
		return AppendError(nil, m.ID, &Error{Raw: m.Error})
	}
	return AppendResult(nil, m.ID, m.Result)
}

// appendRequest appends a request with any id.
func appendRequest(dst []byte, id json.RawMessage, method string, params []byte) []byte {
	dst = append(dst, head+`,"id":`...)
	return appendMethod(append(dst, id...), method, params)
}

// AppendNotification appends a notification.
func AppendNotification(dst []byte, method string, params []byte) []byte {
	return appendMethod(append(dst, head...), method, params)
}

func appendMethod(dst []byte, method string, params []byte) []byte {
	dst = append(dst, `,"method":`...)
	dst = rawjson.AppendString(dst, method)
	if params != nil {
		dst = append(dst, `,"params":`...)
		dst = append(dst, params...)
	}
	return append(dst, '}')
}

// appendHead appends an answer up to where the raw result goes.
func appendHead(dst []byte, id json.RawMessage) []byte {
	dst = append(dst, head+`,"id":`...)
	dst = append(dst, id...)
	return append(dst, `,"result":`...)
}

// AppendResult appends the answer to the request id.
func AppendResult(dst []byte, id, result json.RawMessage) []byte {
	return append(append(appendHead(dst, id), result...), '}')
}

// AppendError appends the error answer to the request id; a nil id stands for one that could not be read.
func AppendError(dst []byte, id json.RawMessage, err error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	dst = append(dst, head+`,"id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"error":`...)
	return append(append(dst, ErrorObject(err)...), '}')
}

// AppendAnswer appends the answer to the request id: the result, or the error if there is one.
func AppendAnswer(dst []byte, id, result json.RawMessage, err error) []byte {
	if err != nil {
		return AppendError(dst, id, err)
	}
	return AppendResult(dst, id, result)
}

// ErrorObject is what the peer may see of err.
func ErrorObject(err error) []byte {
	var e *Error
	if !errors.As(err, &e) {
		e = Errorf(CodeInternal, "internal error")
	}
	if e.Raw != nil {
		return e.Raw
	}
	b := append([]byte(`{"code":`), strconv.Itoa(e.Code)...)
	b = append(b, `,"message":`...)
	b = rawjson.AppendString(b, e.Message)
	if e.Data != nil {
		b = append(b, `,"data":`...)
		b = append(b, e.Data...)
	}
	return append(b, '}')
}

// ParseError reads a peer's error object and keeps its bytes. Anything else becomes the data of an error: strict readers would drop it.
func ParseError(raw json.RawMessage) *Error {
	code, err := strconv.Atoi(string(rawjson.Get(raw, "code")))
	message, ok := rawjson.String(rawjson.Get(raw, "message"))
	if err == nil && ok {
		return &Error{Code: code, Message: message, Raw: raw}
	}
	e := &Error{Code: CodeInternal, Message: "error without a message", Data: raw}
	if err == nil {
		e.Code = code
	}
	if message != "" {
		e.Message = message
	}
	return e
}
