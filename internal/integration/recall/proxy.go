package recall

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/schema"
)

// proxy calls a tool of an MCP server with the flat arguments of the body.
func (s *Service) proxy(r *http.Request, who caller) (answer, error) {
	server := r.PathValue("mcp_id")
	name, ok := strings.CutSuffix(r.PathValue("tool"), "/call")              // a tool's name may contain a slash
	if !ok || name == "" || server == "" || !utf8.ValidString(server+name) { // sent on as JSON, other bytes would name another tool
		return answer{}, notFound("", details{"path": clipped(r.URL.Path)})
	}
	args, err := s.readObject(r)
	if err != nil {
		return answer{}, err
	}
	var fixed raw
	if sealed := r.URL.Query().Get("fixed"); sealed != "" {
		fixed, ok = s.seal.open(scope(server, name), sealed)
		if !ok {
			return answer{}, wrong("fixed", "fixed", say("got.otherText"))
		}
	}
	entry, err := s.find(r.Context(), who.profile, tool.Canonical(tool.ServerID(server), name))
	switch {
	case err != nil:
		return answer{}, err
	case entry == nil && s.remote == nil:
		return answer{}, noInstance(server)
	}
	t := target{server, name}
	args, err = s.meant(r.Context(), who, t, entry, args, fixed)
	if err != nil {
		return answer{}, err
	}
	var a answer
	if entry != nil {
		a, err = s.callOwn(r.Context(), who, entry, args)
	} else {
		a, err = s.callRemote(r.Context(), who, t, args)
	}
	if err != nil {
		return answer{}, err
	}
	a.toon = true
	if s.recall.IsErrorAlias {
		a.more = alias(a.body)
	}
	return a, nil
}

// meant converts the caller's arguments from the dialect that it was shown, and adds the bound ones.
// The list of a remote tool is fetched if needed, since a dialect can change what arguments mean.
func (s *Service) meant(ctx context.Context, who caller, t target, entry *catalog.Entry, args, fixed raw) (raw, error) {
	if d := s.dialect(); d != schema.Inlined {
		var in raw
		if entry != nil {
			in = entry.InputSchema()
		} else {
			found, err := s.remote.mcpTool(ctx, t.server, t.name, who.account)
			if err != nil {
				return nil, err
			}
			in = found.def.InputSchema()
		}
		if told, err := s.inForm(in, form{keys(fixed), d}); err == nil { // otherwise it was never shown
			if own, _, err := told.back.Back(args); err == nil { // otherwise they may be in the tool's own form
				args = own
			}
		}
	}
	if fixed == nil {
		return args, nil
	}
	return merge(args, fixed), nil
}

// callOwn calls a tool of one of our servers, like any other call.
func (s *Service) callOwn(ctx context.Context, who caller, entry *catalog.Entry, args raw) (answer, error) {
	params, err := call.NewParams(entry.Shown, args)
	if err != nil {
		return answer{}, err
	}
	req := call.Request{Principal: who.Principal, Profile: who.profile, Reader: call.Person, Params: params}
	if s.recall.Project {
		req.Reader = call.Model
		req.AsRuled = true
	}
	res, err := s.Caller.Do(ctx, req)
	if err != nil {
		return answer{}, err
	}
	return answer{body: res.Raw, release: res.Release}, nil
}

// target is a tool of a server that only agent-operator-integration knows.
type target struct{ server, name string }

// callRemote calls a tool through agent-operator-integration. The schema is not fetched to fit
// arguments: a call is one request.
func (s *Service) callRemote(ctx context.Context, who caller, t target, args raw) (answer, error) {
	req := call.Request{Principal: who.Principal, Profile: who.profile, Reader: call.Person, Params: call.Params{Args: args}}
	res, err := s.Caller.DoElsewhere(ctx, req, call.Elsewhere{
		Server: tool.ServerID(t.server), Tool: t.name, Fit: s.remote.fitter(t, who.account),
		Send: func(ctx context.Context, args raw) (raw, bool, error) {
			out, err := s.remote.call(ctx, t.server, t.name, args, who.account)
			if err != nil {
				return nil, false, fault.New(codeOf(err), "%w", err)
			}
			return out, string(rawjson.Get(out, "is_error")) == "true", nil
		},
	})
	if err != nil {
		return answer{}, err
	}
	return answer{body: res.Raw}, nil
}

// codeOf returns the error code for the record.
func codeOf(err error) fault.Code {
	switch p := asProblem(err); {
	case p.status == http.StatusBadRequest:
		return fault.BadArguments
	case p.status == http.StatusNotFound:
		return fault.UnknownTool
	case p.status == http.StatusForbidden:
		return fault.Forbidden
	case p.status == fault.Gone:
		return fault.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return fault.UpstreamTimeout
	case neverReached(err):
		return fault.UpstreamDown
	case p.status == http.StatusBadGateway:
		return fault.UpstreamError
	}
	return fault.Internal
}

// alias repeats isError as is_error, or vice versa. It is an edit because results can be
// large.
func alias(result raw) (say rawjson.Edit) {
	if !bytes.Contains(result, []byte(`"isError"`)) && !bytes.Contains(result, []byte(`"is_error"`)) {
		return say
	}
	other := map[string]string{"isError": "is_error", "is_error": "isError"}
	seen := map[string]bool{}
	for w := rawjson.Object(result); w.Next(); {
		if name := other[string(w.Key)]; name != "" {
			seen[name] = true
			say = rawjson.Edit{Start: w.End, End: w.End, New: append([]byte(`,"`+name+`":`), w.Value...)}
		}
	}
	if len(seen) > 1 {
		return rawjson.Edit{}
	}
	return say
}
