package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
)

// modern passes on a request without a session. If the server asks something, the call outlives it: the client brings answers with a retry.
func (v *visitor) modern(ctx context.Context, req *mcp.Request, ask asker) (json.RawMessage, error) {
	if req.Meta.Level != "" && v.principal.MayCall() {
		v.server.setLevel(ctx, v.server.levels.want(req.Meta.Level))
	}
	if err := v.checkMirror(req); err != nil {
		return nil, err
	}
	if req.Method == "completion/complete" {
		out, err := ask(ctx, req)
		return v.inModern(req, out, 0, err)
	}
	back, err := parseRetry(req.Params)
	if err != nil {
		return nil, err
	}
	if back.state != "" {
		return v.resume(ctx, req, ask, back)
	}
	out, err := v.begin(ctx, req, ask)
	return v.inModern(req, out, 0, err)
}

// begin makes a call that its client can be asked about.
func (v *visitor) begin(ctx context.Context, req *mcp.Request, ask asker) (*upstream.Outcome, error) {
	if !mcp.CanBeAsked(req.Meta.Capabilities) {
		return ask(ctx, req)
	}
	return v.server.talk(ctx, v, req, ask)
}

// resume goes on with a call whose client brings back what it was given.
func (v *visitor) resume(ctx context.Context, req *mcp.Request, ask asker, back retry) (json.RawMessage, error) {
	was, err := v.server.seal.open(back.state, v.binding(req))
	if err != nil {
		return nil, err
	}
	again := *req
	switch was.Kind {
	case stateParked:
		if was.Replica != v.server.parked.replica && req.PassOn(was.Replica) {
			return nil, errAnswered
		}
		out, err := v.server.resume(ctx, req, v, back, was)
		return v.inModern(req, out, 0, err)
	case stateRepeat:
		again.Params = mcp.Without(req.Params, "inputResponses", "requestState")
	default:
		again.Params = mcp.With(mcp.Without(req.Params, "requestState"), "requestState", was.State)
	}
	out, err := v.begin(ctx, &again, ask)
	return v.inModern(req, out, was.Round, err)
}

// retry is what a client brings back with a call that it makes again.
type retry struct {
	state   string
	answers json.RawMessage
}

// parseRetry takes the two members that make a request a retry. Each may stand there once.
func parseRetry(params json.RawMessage) (retry, error) {
	var back retry
	if !bytes.Contains(params, []byte(`"requestState"`)) {
		return back, nil
	}
	var state json.RawMessage
	w := rawjson.Object(params)
	for w.Next() {
		var slot *json.RawMessage
		switch string(w.Key) {
		case "requestState":
			slot = &state
		case "inputResponses":
			slot = &back.answers
		default:
			continue
		}
		if *slot != nil {
			return back, mcp.Errorf(mcp.CodeInvalidParams, "params: member %q stands there twice", w.Key)
		}
		*slot = w.Value
	}
	if state == nil {
		return back, nil
	}
	back.state, _ = rawjson.String(state)
	switch {
	case back.state == "":
		return back, mcp.Errorf(mcp.CodeInvalidParams, "params.requestState must be the text that was given")
	case back.answers != nil && back.answers[0] != '{':
		return back, mcp.Errorf(mcp.CodeInvalidParams, "params.inputResponses must be an object")
	}
	return back, nil
}

// checkMirror compares headers that repeat arguments with the arguments. Lists in a dialect do not ask for such headers.
func (v *visitor) checkMirror(req *mcp.Request) error {
	if req.Method != "tools/call" || req.Meta.Header == nil {
		return nil
	}
	view, err := v.view()
	if err != nil || view.Dialect != "" || !view.Mirrors() {
		return nil
	}
	name, _ := rawjson.String(rawjson.Get(req.Params, "name"))
	entry, err := view.Find(name)
	if err != nil {
		return nil // the call itself says so
	}
	return view.Mirror(entry).Check(req.Meta.Header, rawjson.Get(req.Params, "arguments"))
}

// listen lets a modern client hear of changes.
func (v *visitor) listen(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	if req.Method != "subscriptions/listen" {
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "unknown method %s", req.Method)
	}
	return req.Listen(ctx, func(session *mcp.Session, wanted mcp.Filter) mcp.Filter {
		wanted.Tasks = v.watchTasks(ctx, session, wanted.Tasks)
		wanted.URIs = v.subscribeAll(ctx, session, wanted.URIs)
		return wanted
	})
}

// subscribeAll subscribes to the resources, some at a time, and returns those that worked.
func (v *visitor) subscribeAll(ctx context.Context, session *mcp.Session, uris []string) []string {
	good := make([]bool, len(uris))
	slots := make(chan struct{}, 16)
	var wg sync.WaitGroup
	for i, uri := range uris {
		slots <- struct{}{}
		wg.Go(func() {
			good[i] = v.subscribeTo(ctx, session, catalog.URIArgs(uri)) == nil
			<-slots
		})
	}
	wg.Wait()
	var heard []string
	for i, uri := range uris {
		if good[i] {
			heard = append(heard, uri)
		}
	}
	return heard
}
