package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/mcp"
)

// answer reads the response to request id, in whichever form it comes.
func (r *remote) answer(ctx context.Context, resp *http.Response, id int64, out outgoing) (json.RawMessage, error) {
	switch {
	case resp.StatusCode == http.StatusNotFound && r.session() != "":
		return nil, errSessionLost
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return nil, r.blame(r.statusError(resp, id, out.era))
	case resp.StatusCode != http.StatusOK:
		return nil, r.statusError(resp, id, out.era)
	case isStream(resp):
		return r.answerFromStream(ctx, resp.Body, id, out)
	case strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json"):
		return r.answerFromBody(resp, id, out.buf)
	}
	head, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if page := r.pageError(resp.StatusCode, head); page != nil {
		return nil, page
	}
	return nil, r.protocolError("answered %q instead of JSON: %s", resp.Header.Get("Content-Type"), oneLine(head))
}

func (r *remote) answerFromBody(resp *http.Response, id int64, buf *buffer) (json.RawMessage, error) {
	if buf == nil {
		buf = new(buffer)
	}
	buf.Reset()
	if n := resp.ContentLength; n > 0 && n <= r.limit {
		buf.Grow(int(n) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(resp.Body, r.limit+1))
	switch {
	case err != nil:
		return nil, fault.New(fault.UpstreamDown, "the connection to server %s broke before its answer was complete: %w",
			r.server, fault.Plain(err))
	case n > r.limit:
		return nil, tooLarge(r.server, max(n, resp.ContentLength), r.limit)
	}
	m, err := r.hooks.parse(buf.Bytes())
	if err != nil {
		if page := r.pageError(resp.StatusCode, buf.Bytes()); page != nil {
			return nil, page
		}
		return nil, r.protocolError("sent something that is not a message: %v", err)
	}
	if !m.IsResponse() || !isID(m.ID, id) {
		return nil, r.protocolError("answered another request than the one it was sent")
	}
	buf.longest = m.Longest
	return split(m)
}

// split takes the answer out of a message. An error outlives the buffer that it came in.
func split(m mcp.Message) (json.RawMessage, error) {
	if m.Error != nil {
		return nil, mcp.ParseError(bytes.Clone(m.Error))
	}
	return m.Result, nil
}

// copyAnswer is split for a message whose bytes are used again.
func copyAnswer(m mcp.Message, buf *buffer) (json.RawMessage, error) {
	result, err := split(m)
	if err != nil || buf == nil {
		return bytes.Clone(result), err
	}
	buf.Reset()
	buf.Write(result)
	buf.longest = m.Longest
	return buf.Bytes(), nil
}

func isID(raw json.RawMessage, id int64) bool {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil && n == id
}
