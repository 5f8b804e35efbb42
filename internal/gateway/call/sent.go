package call

import (
	"context"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/schema"
)

// sent is what was sent: the tool that the call is for, and the arguments it gets.
type sent struct {
	view    *catalog.View
	entry   *catalog.Entry
	params  *Params         // the request's, or those inside call_tool
	args    json.RawMessage // as the caller wrote them, without those for paging
	dialect schema.Dialect  // that args are written for; "": as the tool takes them
	page    page            // which part of the result the caller asks for
	fitted  fit.Result      // the arguments as the tool gets them
	fromApp bool            // an app calls it, which a client renders
}

// rendersApps tells whether the call comes from a client that renders apps, which may call tools, too.
func (r *Request) rendersApps() bool {
	return r.Reader == Model && r.script == nil && mcp.Declares(r.From.Capabilities, mcp.ExtensionApps)
}

// own tells whether the call is for our own tool of the name.
func (s *sent) own(name string) bool { return s.entry.Own && s.entry.Shown == name }

// decide finds the tool that a call is about, which the caller may use.
func (c *Caller) decide(ctx context.Context, req *Request, rec *recording) (sent, error) {
	ctx, span := c.opts.Trace.Begin(ctx, "decide")
	s, err := c.resolve(ctx, req)
	if err == nil {
		rec.found(s.entry)
		s, err = c.unwrap(ctx, s, req, rec)
	}
	span.Decided(rec.call.Profile, string(rec.call.Server), err)
	return s, err
}

// resolve finds the tool among those that the caller's profile shows.
func (c *Caller) resolve(ctx context.Context, req *Request) (sent, error) {
	if !req.Principal.MayCall() && !(req.Environment && req.Principal.MayRead()) {
		return sent{}, req.Principal.Forbidden("%s may not call tools")
	}
	s, err := c.lookUp(ctx, req, &req.Params)
	s.dialect = req.Dialect
	if req.AsListed && s.view != nil {
		s.dialect = s.view.Dialect
	}
	return s, err
}

// lookUp finds the tool of the params, waiting for servers that were never listed if need be.
func (c *Caller) lookUp(ctx context.Context, req *Request, params *Params) (sent, error) {
	s, err := c.find(req, params)
	if !fault.Is(err, fault.UnknownTool) {
		return s, err
	}
	if _, err := c.tools.Listed(ctx, req.Profile); err != nil {
		return sent{}, err
	}
	return c.find(req, params)
}

// find looks the tool up by the name that the caller was shown, by its name in another version of its server, or by the one that
// an app of its server has for it. Tools that the policy denies are found too: their callers are told so.
func (c *Caller) find(req *Request, params *Params) (sent, error) {
	view, err := c.tools.View(req.Profile)
	if err != nil {
		return sent{}, err
	}
	if req.Environment {
		view = view.Environment(req.Principal.MayCall())
	}
	s := sent{view: view, params: params, args: params.Args}
	if s.entry, err = view.Find(params.Tool); err != nil {
		if entry, args, ok := view.Route(params.Tool, s.args); ok {
			s.entry = entry
			s.args = args
		} else if req.rendersApps() {
			if s.entry, err = view.As(req.Principal).FromApp(params.Tool); err != nil {
				return s, err
			}
			s.fromApp = s.entry != nil
		}
	}
	if s.entry == nil || s.entry.Own && req.script != nil || s.entry.AppOnly() && req.Reader == Model && !req.rendersApps() || req.May != nil && !req.May(s.entry) {
		unknown := view.As(req.Principal).Unknown(params.Tool, req.May)
		if params.Tool == RunScript && req.script == nil {
			unknown = unknown.WithHint("profile %s runs no scripts; code: on lets it", view.Profile)
		}
		return s, unknown
	}
	return s, req.script.may(s.entry)
}

// unwrap replaces a call of call_tool by the call inside it. From here on both are treated alike.
func (c *Caller) unwrap(ctx context.Context, s sent, req *Request, rec *recording) (sent, error) {
	if !s.own(CallTool) {
		return s, nil
	}
	outer, err := s.view.Fit(ctx, s.entry, s.dialect, orNone(s.args))
	if err != nil {
		return s, err
	}
	name, _ := rawjson.String(rawjson.Get(outer.Args, "name"))
	if name == CallTool {
		return s, fault.New(fault.BadArguments, "/name: call_tool cannot call itself").WithHint("name the tool to call")
	}
	args := orNone(rawjson.Get(outer.Args, "arguments"))
	raw, _ := req.Params.forServer(name, args)
	params, err := ParseParams(raw)
	if err != nil {
		return s, err
	}
	inner, err := c.lookUp(ctx, req, &params)                                                       // without a dialect: the signature names the tool's own arguments
	if fault.Is(err, fault.UnknownTool) || err == nil && (inner.fromApp || inner.entry.AppOnly()) { // only models use call_tool
		return s, unknown(s.view.As(req.Principal), name, req.May)
	}
	if err != nil {
		return s, err
	}
	rec.found(inner.entry)
	rec.call.BytesIn = int64(len(args))
	rec.given = args
	rec.outer = outer.Repairs
	return inner, nil
}

// noArgs stands for arguments that are absent.
var noArgs = json.RawMessage("{}")

func orNone(args json.RawMessage) json.RawMessage {
	if rawjson.IsNull(args) {
		return noArgs
	}
	return args
}

// page is the part of a result that a caller asks for.
type page struct {
	fields        *mask.Mask
	offset, limit int
}

// applyTo replaces what a rule says by what the caller asks for.
func (p *page) applyTo(how *project.How) {
	if p.fields != nil {
		how.Mask = p.fields
		how.JQ = nil
	}
	how.Offset = p.offset
	how.Limit = p.limit
}

// takePage takes the paging arguments out. They are checked before anything is sent: a call that was made must not fail because of them.
func (s *sent) takePage() error {
	if !s.entry.Paged || rawjson.IsNull(s.args) || s.args[0] != '{' {
		return nil
	}
	rest := []byte{'{'}
	took := false
	for w := rawjson.Object(s.args); w.Next(); {
		known, err := s.page.read(string(w.Key), w.Value)
		if err != nil {
			return err
		}
		if known {
			took = true
			continue
		}
		rest = append(append(rawjson.AppendString(mcp.Comma(rest), string(w.Key)), ':'), w.Value...)
	}
	if took {
		s.args = append(rest, '}')
	}
	return nil
}

// read takes an argument if it is one for paging.
func (p *page) read(name string, value json.RawMessage) (known bool, err error) {
	count := &p.limit
	switch name {
	case "_fields":
		return true, p.readFields(value)
	case "_limit":
	case "_offset":
		count = &p.offset
	default:
		return false, nil
	}
	n := 0
	if err := json.Unmarshal(value, &n); err != nil || n < 0 {
		return true, fault.New(fault.BadArguments, "/%s: expected a whole number from 0 on", name)
	}
	if !rawjson.IsNull(value) {
		*count = n
	}
	return true, nil
}

func (p *page) readFields(raw json.RawMessage) (err error) {
	if rawjson.IsNull(raw) {
		return nil
	}
	text, ok := rawjson.String(raw)
	if !ok {
		return fault.New(fault.BadArguments, "/_fields: expected text, got %s", kindOf(raw))
	}
	p.fields, err = mask.Parse(text)
	if err != nil {
		return fault.New(fault.BadArguments, "/_fields: %w", err)
	}
	return nil
}
