package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Filter is what a modern client subscribes to.
type Filter struct {
	Lists []string // that one of these lists has changed: of tools, prompts or resources
	URIs  []string // that one of these resources has changed
	Tasks []string // how these tasks are getting on
}

const listChanged = "ListChanged"

// maxListened bounds what one client can make us and the servers keep.
const maxListened = 1000

func parseFilter(params json.RawMessage) (Filter, error) {
	var f Filter
	w := rawjson.Object(rawjson.Get(params, "notifications"))
	for w.Next() {
		switch string(w.Key) {
		case "toolsListChanged", "promptsListChanged", "resourcesListChanged":
			name := strings.TrimSuffix(string(w.Key), listChanged)
			f.Lists = slices.DeleteFunc(f.Lists, func(other string) bool { return other == name }) // of two the last counts
			if string(w.Value) == "true" {
				f.Lists = append(f.Lists, name)
			}
		case "resourceSubscriptions":
			f.URIs = appendStrings(f.URIs, w.Value)
		case "taskIds":
			f.Tasks = appendStrings(f.Tasks, w.Value)
		}
	}
	if w.Err() != nil {
		return f, Errorf(CodeInvalidParams, "params.notifications must be an object")
	}
	if len(f.URIs)+len(f.Tasks) > maxListened {
		return f, Errorf(CodeInvalidParams, "a stream may have at most %d subscriptions", maxListened)
	}
	return f, nil
}

// appendStrings appends the strings of an array.
func appendStrings(to []string, array json.RawMessage) []string {
	w := rawjson.Array(array)
	for w.Next() {
		if text, ok := rawjson.String(w.Value); ok {
			to = append(to, text)
		}
	}
	return to
}

// appendTo appends the filter as the client sees it.
func (f Filter) appendTo(b []byte) []byte {
	b = append(b, '{')
	for _, name := range f.Lists {
		b = append(Comma(b), `"`+name+listChanged+`":true`...)
	}
	b = appendList(b, "resourceSubscriptions", f.URIs)
	b = appendList(b, "taskIds", f.Tasks)
	return append(b, '}')
}

// appendList appends a member that is an array of strings, unless it is nil.
func appendList(b []byte, name string, list []string) []byte {
	if list == nil {
		return b
	}
	b = append(Comma(b), `"`+name+`":[`...)
	for _, text := range list {
		b = rawjson.AppendString(Comma(b), text)
	}
	return append(b, ']')
}

// hears tells whether the filter lets a broadcast through.
func (f *Filter) hears(method string) bool {
	return slices.ContainsFunc(f.Lists, func(name string) bool { return method == "notifications/"+name+"/list_changed" })
}

// listening makes a session a stream of subscriptions/listen: it lasts as long as its request, whose id its notifications carry.
type listening struct {
	filter Filter
	id     json.RawMessage
}

// tag puts the request's id into a notification's params.
func (l *listening) tag(params json.RawMessage) json.RawMessage {
	mark := append([]byte(`{"`+MetaSubscriber+`":`), l.id...)
	mark = append(mark, '}')
	if rawjson.IsNull(params) {
		return With(json.RawMessage("{}"), metaKey, mark)
	}
	old := rawjson.Get(params, metaKey)
	if len(old) > 0 && old[0] == '{' {
		mark = With(Without(old, MetaSubscriber), MetaSubscriber, l.id)
	}
	return With(Without(params, metaKey), metaKey, mark)
}

// eventer is a Peer that accepts whole messages.
type eventer interface{ event(message []byte) error }

// Listen serves subscriptions/listen until the client disconnects or the gateway shuts down. Accept gets the
// session and the requested filter, and returns the granted one, which is sent to the client first.
func (r *Request) Listen(ctx context.Context, accept func(*Session, Filter) Filter) (json.RawMessage, error) {
	out, ok := r.Client.(eventer)
	if r.Meta == nil || !ok {
		return nil, Errorf(CodeMethodNotFound, "unknown method %s", r.Method)
	}
	wanted, err := parseFilter(r.Params)
	if err != nil {
		return nil, err
	}
	if len(wanted.Tasks) > 0 && !Declares(r.Meta.Capabilities, ExtensionTasks) {
		return nil, MissingExtension(ExtensionTasks)
	}
	own := &listening{filter: wanted, id: r.ID}
	s := &Session{Owner: r.entry.Owner, Group: r.entry.Group, Version: ModernVersion, done: make(chan struct{}), listening: own}
	wake := s.news.read()
	if err := r.sessions.add(s, false); err != nil {
		return nil, err
	}
	defer r.sessions.remove(s)
	heard := accept(s, wanted)
	ack := append([]byte(`{"notifications":`), heard.appendTo(nil)...)
	if err := out.event(AppendNotification(nil, ackMethod, own.tag(append(ack, '}')))); err != nil {
		return nil, err
	}
	if !s.follow(ctx, wake, out) {
		return nil, ctx.Err()
	}
	return json.RawMessage(`{"resultType":"complete","_meta":{"` + MetaSubscriber + `":` + string(r.ID) + `}}`), nil
}

const (
	listenMethod = "subscriptions/listen"
	ackMethod    = "notifications/subscriptions/acknowledged"
)

// follow passes on the session's notifications. True: we have ended it, not the client.
func (s *Session) follow(ctx context.Context, wake <-chan struct{}, out eventer) bool {
	defer s.news.leave(wake)
	for next := 0; ; {
		select {
		case <-ctx.Done():
			return false
		case <-s.done:
			return true
		case _, mine := <-wake:
			if !mine {
				return true
			}
			var events [][]byte
			events, next, _ = s.news.from(next)
			for _, message := range events {
				if out.event(message) != nil {
					return false
				}
			}
			s.news.wrote(next)
		}
	}
}
