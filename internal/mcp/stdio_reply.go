package mcp

import (
	"context"
	"encoding/json"
	"sync"
)

// pipeReply is the answer to one request on a pipe, and the way back to its client.
type pipeReply struct {
	opened
	pipe *pipe
	meta *Meta           // of a modern request
	held *sync.WaitGroup // what waits for the answer
}

// serve registers the request and serves it beside the next ones.
func (r *pipeReply) serve(req *Request) {
	req.early = r
	serve := r.pipe.entry.start(r.pipe.life, r.pipe.log, &r.opened, req)
	r.held.Add(1)
	go func() {
		answer := serve()
		if r.hasLeft() {
			return
		}
		defer r.held.Done()
		if answer != nil {
			r.pipe.write(answer)
		}
	}()
}

// answerNow writes the answer; from then on nobody waits for the handler.
func (r *pipeReply) answerNow(result json.RawMessage) bool {
	if !r.leave() {
		return false
	}
	defer r.held.Done()
	r.pipe.write(AppendResult(nil, r.id, result))
	return true
}

// Notify sends a notification to the client.
func (r *pipeReply) Notify(_ context.Context, method string, params json.RawMessage) error {
	if !r.session.wants(method, params) || r.meta != nil && !r.meta.wants(method, params) {
		return nil
	}
	return r.event(AppendNotification(nil, method, params))
}

// Ask sends a request to the client and waits for its answer. A modern client is asked by the answer instead.
func (r *pipeReply) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if r.meta != nil {
		return Deaf.Ask(ctx, method, params)
	}
	return r.session.ask(ctx, method, params, r.event)
}

func (r *pipeReply) event(message []byte) error {
	if r.hasLeft() {
		return errFinished
	}
	return r.pipe.write(message)
}
