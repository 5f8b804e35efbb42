// Package cloudbase is the built-in MCP server for Tencent CloudBase: it lists and reads
// environments (envQuery, queryEnv and their old names), and lets a person pick one on a page
// while the call waits (envPick). It speaks to the cloud's API with the cloud's own signing
// client, and gives what the API said: rows are never decoded, so nothing in them is lost. It
// never writes to the cloud, never cuts rows unless the call names fields (what a model needs
// of a list is a rule, see Rules), and keeps nothing between calls but open picks.
//
//	server, err := cloudbase.New(os.LookupEnv, nil, nil)
//	defer server.Close()
//	res, err := server.Serve(ctx, &mcp.Request{
//		Method: "tools/call",
//		Params: json.RawMessage(`{"name":"envQuery","arguments":{"action":"list"}}`),
//		Client: mcp.Deaf,
//	})
package cloudbase

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/integration/cloudbase/picker"
	"github.com/toolfit/toolfit/internal/mcp"
)

// Server serves one account.
type Server struct {
	api    *api
	bound  string // the one environment that the server is for; "": all
	picker *picker.Picker
	opts   Options
}

// Options change a Server. The zero value is usable.
type Options struct {
	Transport http.RoundTripper         // carries requests to the API; nil: the network
	Caller    func(*mcp.Request) string // tells callers apart, for picks; nil: they are told apart by what they were given alone
	Now       func() time.Time          // nil: time.Now
}

// New makes a server with settings from environment variables, which lookup finds. Without a picker
// there is no envPick. Missing credentials are reported by each call.
func New(lookup func(string) (string, bool), p *picker.Picker, opts *Options) (*Server, error) {
	s := &Server{picker: p}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	if s.opts.Caller == nil {
		s.opts.Caller = func(*mcp.Request) string { return "" }
	}
	set, err := readSettings(lookup)
	if err != nil {
		return nil, err
	}
	s.bound = set.envID
	s.api = newAPI(set, s.opts.Transport)
	return s, nil
}

// Close closes idle connections. Running calls end with their contexts.
func (s *Server) Close() { s.api.close() }

// Serve answers ping, tools/list and tools/call.
func (s *Server) Serve(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	switch req.Method {
	case "ping":
		return json.RawMessage(`{}`), nil
	case "tools/list":
		return listTools(s.picker != nil), nil
	case "tools/call":
		return s.call(ctx, req)
	}
	return nil, mcp.Errorf(mcp.CodeMethodNotFound, "method %q is not known here", req.Method)
}

// call runs a tool and turns errors into results that a model can act on.
func (s *Server) call(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	name, raw, err := callOf(req.Params)
	if err != nil {
		return nil, err
	}
	out, err := s.run(ctx, req, name, raw)
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		return errorResult(s.api.settings.redact(f)), nil
	case err != nil:
		return nil, err
	}
	return result(out, false), nil
}

func (s *Server) run(ctx context.Context, req *mcp.Request, name string, raw json.RawMessage) (json.RawMessage, error) {
	if name == "envPick" && s.picker != nil {
		in, err := readPick(raw)
		if err != nil {
			return nil, err
		}
		return s.pick(ctx, req, in)
	}
	actions := actionsOf[name]
	if actions == nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "unknown tool %q", name)
	}
	in, err := readQuery(raw, actions)
	if err != nil {
		return nil, err
	}
	if in.action == "list" {
		return s.list(ctx, in)
	}
	return s.read(ctx, in)
}

// read asks the API about one environment.
func (s *Server) read(ctx context.Context, in query) (json.RawMessage, error) {
	id := cmp.Or(in.envID, s.bound)
	if id == "" {
		return nil, fault.New(fault.BadArguments, "envId: expected the EnvId of an environment for action %s, got nothing", in.action).
			WithHint("action=list gives the ids").WithDetails(details{Variables: varEnvID[:1]})
	}
	params := map[string]any{"EnvId": id}
	switch in.action {
	case "domains":
		return s.api.call(ctx, "DescribeAuthDomains", params)
	case "hosting":
		return s.api.call(ctx, "DescribeStaticStore", params)
	case "usage":
		params["MetricName"] = in.metric
		return s.api.call(ctx, "DescribeQuotaData", params)
	case "metrics":
		params["MetricName"] = in.metric
		params["StartTime"], params["EndTime"] = s.span(in)
		return s.api.call(ctx, "DescribeCurveData", params)
	}
	return s.api.call(ctx, "DescribeEnvs", params)
}

// span is the time range of metrics: by default the last day, in Beijing time.
func (s *Server) span(in query) (from, to string) {
	now := s.opts.Now().In(time.FixedZone("CST", 8*60*60))
	return cmp.Or(in.startTime, now.Add(-24*time.Hour).Format(time.DateTime)), cmp.Or(in.endTime, now.Format(time.DateTime))
}
