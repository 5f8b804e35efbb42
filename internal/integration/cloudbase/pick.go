package cloudbase

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/integration/cloudbase/picker"
	"github.com/toolfit/toolfit/internal/mcp"
)

// MaxWait is the maximum duration of an envPick call.
const MaxWait = time.Hour

// hold is how long a follow-up call waits. Most clients time out after a minute.
const hold = 45 * time.Second

// pick asks a person, and waits if the client can show the link itself. Other clients get the link
// at once and call again with its wait.
func (s *Server) pick(ctx context.Context, req *mcp.Request, in choose) (json.RawMessage, error) {
	if in.wait != "" {
		return s.resume(ctx, req, in.wait)
	}
	w, err := s.picker.Open(picker.Question{Caller: s.opts.Caller(req), Message: in.message, Timeout: in.timeout, List: s.rows})
	if err != nil {
		return nil, err
	}
	e := elicitation{wait: w, client: req.Client, message: in.message}
	choice, asked, err := e.run(ctx)
	if err != nil || asked {
		w.End()
	}
	switch {
	case err != nil:
		return nil, err
	case asked:
		return chosen(choice)
	}
	tellLink(ctx, req, w.URL())
	return waiting(w.Handle(), w.URL(), w.Until()), nil
}

// rows lists every environment of the account for the page.
func (s *Server) rows(ctx context.Context) (json.RawMessage, error) {
	list, err := s.environments(ctx)
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		return nil, s.api.settings.redact(f)
	case err == nil && !isArray(list):
		return json.RawMessage("[]"), nil
	}
	return list, err
}

// resume continues a wait, which may be at another gateway. If the caller leaves, the page ends.
func (s *Server) resume(ctx context.Context, req *mcp.Request, handle string) (json.RawMessage, error) {
	caller := s.opts.Caller(req)
	state, err := s.picker.Await(ctx, handle, caller, 0)
	if err == nil && state.Choice == nil {
		tellLink(ctx, req, state.URL)
		state, err = s.picker.Await(ctx, handle, caller, hold)
	}
	switch {
	case err != nil:
		return nil, err
	case state.Choice != nil:
		return chosen(*state.Choice)
	}
	return waiting(handle, state.URL, state.Until), nil
}

func chosen(c picker.Choice) (json.RawMessage, error) {
	switch c.Outcome {
	case picker.Picked:
		return rawjson.Encode(map[string]string{"envId": c.EnvID}), nil
	case picker.Canceled:
		return json.RawMessage(`{"cancelled":true}`), nil
	case picker.Switched:
		return json.RawMessage(`{"switch":true}`), nil
	case picker.TimedOut:
		return nil, fault.New(fault.UpstreamTimeout, "nobody picked an environment in time").
			WithHint("ask the person, then call envPick again")
	}
	return nil, fault.New(fault.Canceled, "the page was closed before anybody picked an environment").WithHint("call envPick again")
}

// waiting is the answer with the link and how to continue.
func waiting(handle, link string, until time.Time) json.RawMessage {
	return rawjson.Encode(struct {
		Status  string `json:"status"`
		URL     string `json:"url"`
		Wait    string `json:"wait"`
		Expires string `json:"expires"`
		Next    string `json:"next"`
	}{"waiting", link, handle, until.UTC().Format(time.RFC3339),
		"Show the person the url. Then call envPick with this wait alone; it answers when the person has decided."})
}

// tellLink sends the link as progress, if the caller wants progress. Errors are ignored.
func tellLink(ctx context.Context, req *mcp.Request, link string) {
	meta := mcp.FindMeta(req.Params)
	token := mcp.ProgressToken(req.Params[meta.Start:meta.End])
	if token.End == 0 {
		return
	}
	params := append([]byte(`{"progressToken":`), req.Params[meta.Start+token.Start:meta.Start+token.End]...)
	params = rawjson.AppendString(append(params, `,"progress":0,"message":`...), "Pick a cloud environment: "+link)
	_ = req.Client.Notify(ctx, "notifications/progress", append(params, '}'))
}
