package mcp

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// maxBatch limits the messages of one array.
const maxBatch = 100

func isBatch(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("["))
}

// postBatch serves an array of messages, which only revision 2025-03-26 knows.
func (f *Front) postBatch(w http.ResponseWriter, r *http.Request, e Entry, body []byte) {
	if r.Header.Get(versionHeader) == ModernVersion {
		refuse(w, http.StatusBadRequest, Errorf(CodeInvalidRequest, "revision %s has no batches: send one message at a time", ModernVersion))
		return
	}
	s := f.session(w, r, e, body)
	if s == nil {
		return
	}
	if s.Version != batchVersion {
		refuse(w, http.StatusBadRequest, Errorf(CodeInvalidRequest, "revision %s has no batches: send one message at a time", s.Version))
		return
	}
	messages, err := parseBatch(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	if e.Charge != nil && !e.Charge(w, r, len(messages)) {
		return
	}
	answers := f.serveBatch(r, e, s, messages)
	if answers == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", jsonType)
	w.Write(answers)
}

func parseBatch(body []byte) ([]Message, error) {
	var messages []Message
	w := rawjson.Array(body)
	for w.Next() {
		m, err := Parse(w.Value)
		if err != nil {
			return nil, err
		}
		if m.Method == "initialize" {
			return nil, Errorf(CodeInvalidRequest, "initialize may not be part of a batch")
		}
		if messages = append(messages, m); len(messages) > maxBatch {
			return nil, Errorf(CodeInvalidRequest, "a batch may hold at most %d messages", maxBatch)
		}
	}
	if err := w.Err(); err != nil {
		return nil, Errorf(CodeParse, "%v", err)
	}
	if len(messages) == 0 {
		return nil, Errorf(CodeInvalidRequest, "the batch is empty")
	}
	return messages, nil
}

// serveBatch runs the requests in parallel and returns the array of answers; nil if there are none.
func (f *Front) serveBatch(r *http.Request, e Entry, s *Session, messages []Message) []byte {
	ctx := context.WithoutCancel(r.Context())
	answers := make([][]byte, len(messages))
	var wg sync.WaitGroup
	for i, m := range messages {
		switch {
		case m.IsResponse():
			f.tellAsker(r, &m)
			s.answered(m)
		case m.IsNotification():
			if !e.take(ctx, s, m) {
				f.tell(r, "", &m)
			}
		default:
			serve := e.start(ctx, f.opts.Logger, &opened{id: m.ID, session: s}, m.request(s, Deaf))
			wg.Go(func() { answers[i] = serve() })
		}
	}
	wg.Wait()
	answers = slices.DeleteFunc(answers, func(a []byte) bool { return a == nil })
	if len(answers) == 0 {
		return nil
	}
	return slices.Concat([]byte("["), bytes.Join(answers, []byte(",")), []byte("]"))
}
