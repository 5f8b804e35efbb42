package env

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

const sessionHeader = "Mcp-Session-Id"

type address struct {
	url    string
	http   *http.Client
	header http.Header
}

// remote is one session with a server.
type remote struct {
	address
	last atomic.Int64

	mu      sync.Mutex
	session string // "" before one is given out
	version string // "" before one is agreed on
}

func (r *remote) agree(version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version = version
}

func (r *remote) do(ctx context.Context, method string, body []byte, more http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, h := range []http.Header{r.header, more} {
		for name, values := range h {
			req.Header[name] = values
		}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	r.mu.Lock()
	if r.session != "" {
		req.Header.Set(sessionHeader, r.session)
	}
	if r.version != "" {
		req.Header.Set("Mcp-Protocol-Version", r.version)
	}
	r.mu.Unlock()
	res, err := r.http.Do(req)
	var sent *url.Error
	if errors.As(err, &sent) {
		err = sent.Err // without the address, which the caller knows
	}
	return res, err
}

func (r *remote) send(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	id := r.last.Add(1)
	header := http.Header{}
	header.Set(mcp.MethodHeader, method)
	if member := mcp.NamedBy(method); member != "" {
		name, _ := rawjson.String(rawjson.Get(params, member))
		header.Set(mcp.NameHeader, mcp.EncodeHeader(name))
	}
	res, err := r.do(ctx, http.MethodPost, mcp.AppendRequest(nil, id, method, params), header)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	m, err := r.answer(ctx, res, strconv.FormatInt(id, 10))
	if err != nil {
		return nil, err
	}
	if session := res.Header.Get(sessionHeader); method == "initialize" && session != "" {
		r.mu.Lock()
		r.session = session
		r.mu.Unlock()
	}
	return resultIn(m)
}

// answer reads the answer to the request with the id, from the body or its events.
func (r *remote) answer(ctx context.Context, res *http.Response, id string) (mcp.Message, error) {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if kind == "text/event-stream" && res.StatusCode == http.StatusOK {
		return r.streamed(ctx, res.Body, id)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return mcp.Message{}, err
	case len(body) > maxAnswer:
		return mcp.Message{}, errors.New("the answer is too large")
	case res.StatusCode == http.StatusNotFound && res.Request.Header.Get(sessionHeader) != "":
		return mcp.Message{}, &StatusError{res.StatusCode} // the session is not known any more
	}
	m, err := mcp.Parse(body)
	switch {
	case err == nil && answers(m, id):
		return m, nil
	case res.StatusCode/100 != 2:
		return m, &StatusError{res.StatusCode}
	case err == nil && m.IsResponse():
		return m, errors.New("the server answered another request")
	}
	return m, errNotMCP
}

// answers tells whether a message answers the request with the id, which a server that could not
// read it does not know.
func answers(m mcp.Message, id string) bool {
	return m.IsResponse() && (string(m.ID) == id || m.Error != nil && rawjson.IsNull(m.ID))
}

func (r *remote) streamed(ctx context.Context, body io.Reader, id string) (mcp.Message, error) {
	events := mcp.NewEvents(body, maxAnswer)
	defer events.Close()
	for {
		e, err := events.Next()
		switch {
		case err == io.EOF:
			return mcp.Message{}, errors.New("the server ended the stream without an answer")
		case err != nil:
			return mcp.Message{}, fmt.Errorf("read the stream of the answer: %w", err)
		}
		m, err := mcp.Parse(bytes.Clone(e.Data))
		switch {
		case err != nil && string(mcp.BrokenAnswer(e.Data)) == id:
			return m, errUnreadable
		case err != nil: // an event without a message
		case answers(m, id):
			return m, nil
		case m.IsRequest():
			r.post(ctx, answerTo(m))
		}
	}
}

func (r *remote) post(ctx context.Context, message []byte) error {
	res, err := r.do(ctx, http.MethodPost, message, nil)
	if err != nil {
		return err
	}
	res.Body.Close()
	if res.StatusCode/100 != 2 {
		return &StatusError{res.StatusCode}
	}
	return nil
}

func (r *remote) notify(ctx context.Context, method string) error {
	return r.post(ctx, mcp.AppendNotification(nil, method, nil))
}

// Close ends the session. Errors are ignored: servers need not support it.
func (r *remote) Close() error {
	r.mu.Lock()
	session := r.session
	r.mu.Unlock()
	if session == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
	defer cancel()
	if res, err := r.do(ctx, http.MethodDelete, nil, nil); err == nil {
		res.Body.Close()
	}
	return nil
}
