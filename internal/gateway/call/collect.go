package call

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

// isHandle tells whether a ref of fetch_result names a call rather than a stored result.
func isHandle(ref string) bool { return strings.HasPrefix(ref, "c_") }

// maxWait is how long fetch_result waits at most: clients give up after a minute.
const maxWait = 50 * time.Second

// parseWait reads a duration such as "30s"; a bare number is in seconds.
func parseWait(raw json.RawMessage) (time.Duration, error) {
	text, isText := rawjson.String(raw)
	switch {
	case rawjson.IsNull(raw) || isText && text == "":
		return 0, nil
	case !isText:
		text = string(raw)
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		text = strconv.FormatFloat(min(max(seconds, -1), 1e6), 'f', -1, 64) + "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fault.New(fault.BadArguments, "/wait: expected a duration such as 30s, got %.40q", text)
	}
	return min(d, maxWait), nil
}

// collect is fetch_result for a call that goes on without its request. Once the call has ended, it
// returns its result, or the ref of its full result if a part of it is asked for.
func (c *Caller) collect(ctx context.Context, req *Request, f fetching) (raw json.RawMessage, ref string, err error) {
	wait, err := parseWait(f.Wait)
	if err != nil {
		return nil, "", err
	}
	owner := req.Principal.ID
	var w store.Waiting
	if f.Cancel {
		if _, err = c.opts.Waiting.Cancel(ctx, owner, f.Ref); err == nil {
			w, err = c.opts.Waiting.Get(ctx, owner, f.Ref)
		}
	} else {
		peer := req.Client
		if peer == nil {
			peer = mcp.Deaf
		}
		w, err = c.opts.Waiting.Collect(ctx, owner, f.Ref, wait, peer)
	}
	switch {
	case err != nil:
		return nil, "", err
	case !w.Ended():
		return stillRunning(&w, c.opts.Now()), "", nil
	}
	res, err := Ended(&w)
	asked := len(f.Fields) > 0 || f.JQ != "" || f.Offset > 0 || f.Limit > 0
	switch {
	case fault.Is(err, fault.Canceled):
		return wasCanceled(&w, f.Cancel), "", nil
	case err != nil:
		return nil, "", err
	case asked && res.Ref != "":
		return nil, res.Ref, nil
	}
	return res.Raw, "", nil
}

// wasCanceled tells a model that a call was canceled; that is no error if it asked for it.
func wasCanceled(w *store.Waiting, asked bool) json.RawMessage {
	raw := HandleResult(w, string(w.Tool)+" was canceled.")
	if asked {
		return raw
	}
	return mcp.With(raw, "isError", []byte("true"))
}

// stillRunning tells a model that a call has not ended yet.
func stillRunning(w *store.Waiting, now time.Time) json.RawMessage {
	text := string(w.Tool) + " is still running, for " + now.Sub(w.Created).Round(time.Second).String() + " since it was detached"
	switch {
	case w.State == store.InputRequired:
		text = string(w.Tool) + " waits for an answer to a question"
	case w.Message != "":
		text += " (" + w.Message + ")"
	}
	text += ". Call fetch_result again with the same ref; do not call the tool again."
	return HandleResult(w, text)
}

// HandleResult is a result that says something about a waiting call, to models as text, to programs in _meta.
func HandleResult(w *store.Waiting, text string) json.RawMessage {
	b := rawjson.AppendString([]byte(`{"content":[{"type":"text","text":`), text)
	b = rawjson.AppendString(append(b, `}],"_meta":{"toolfit/waiting":{"ref":`...), w.ID)
	b = rawjson.AppendString(append(b, `,"state":`...), string(w.State))
	return append(b, "}}}"...)
}
