package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/httpapi"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// SeatPath is where replicas serve each other the seats that they have.
const SeatPath = "/replica/seat"

// seatMethod asks what the server said when its session was opened.
const seatMethod = "toolfit/seat"

// errorMember is the member of an error's data with an error of the other replica, rather than of the server.
const errorMember = "toolfit/error"

// errGone means that the other replica is not at its address, so that nothing was sent.
var errGone = errors.New("the other replica has gone")

// away is a session with a server at another replica. Requests go there in the server's era, with the caller's own session.
type away struct {
	*remote
	id tool.ServerID
}

// finder sends requests to another replica, and tells if it has gone.
type finder struct{ send http.RoundTripper }

// RoundTrip sends a request.
func (f finder) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := f.send.RoundTrip(req)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, errGone
	case err == nil && resp.StatusCode == http.StatusGone: // another is at its address now
		resp.Body.Close()
		return nil, errGone
	}
	return resp, err
}

// goTo opens a session at the replica that has it.
func (s *server) goTo(ctx context.Context, sess *session, at string) (conn, error) {
	base, send, there := s.pool.opts.Seats.Way(ctx, at, sess.seat.owner)
	if !there {
		return nil, marked(fault.New(fault.UpstreamDown, "the gateway that has the session with server %s cannot be reached", s.cfg.ID).
			WithHint("try again in a few seconds"), noVerdict)
	}
	query := url.Values{"server": {string(s.cfg.ID)}, "session": {sess.seat.key}}
	cfg := config.Server{ID: s.cfg.ID, URL: base + SeatPath + "?" + query.Encode()}
	h := s.hooks(sess.seat)
	h.server = "" // the other one names it in its questions
	h.changed = func() {}
	r, err := newRemote(cfg, httpapi.Static(nil), finder{send}, s.pool.opts.MaxMessage+1<<10, h) // our ids may be longer
	if err != nil {
		return nil, err
	}
	c := away{r, s.cfg.ID}
	hello := append([]byte(`{"protocolVersion":"`+mcp.Latest+`","capabilities":`), sess.seat.caps...)
	hello = append(hello, `,"clientInfo":{"name":"toolfit","version":""}}`...)
	_, err = c.request(ctx, outgoing{method: helloMethod, params: hello, peer: mcp.Deaf})
	var said json.RawMessage
	if err == nil {
		said, err = c.request(ctx, outgoing{method: seatMethod, params: nothing, peer: mcp.Deaf})
	}
	if err != nil {
		c.close()
		if errors.Is(err, errSessionLost) {
			err = errMoved
		}
		return nil, err
	}
	era, _ := rawjson.String(rawjson.Get(said, "era"))
	sess.era = mcp.Era(era)
	sess.hello = rawjson.Get(said, "hello")
	sess.away = at
	s.learn(sess.era)
	r.calls = map[int64]asked{} // before the first call: nobody uses the session yet
	if mcp.CanBeAsked(sess.seat.caps) {
		r.listen()
	}
	return c, nil
}

func (a away) request(ctx context.Context, out outgoing) (json.RawMessage, error) {
	raw, err := a.remote.request(ctx, out)
	var rpc *mcp.Error
	switch {
	case err == nil || ctx.Err() != nil || fault.Is(err, fault.TooLarge):
		return raw, err
	case errors.Is(err, errGone) && a.session() == "":
		return nil, errGone
	case errors.Is(err, errGone) || err == errSessionLost:
		return nil, errSessionLost
	case !errors.As(err, &rpc):
		return nil, a.silent(err)
	}
	if told := rawjson.Get(rpc.Raw, "data", errorMember); told != nil {
		return nil, readTold(told)
	}
	return nil, err
}

// silent is the error for a replica that has not answered.
func (a away) silent(err error) error {
	f := fault.New(fault.UpstreamDown, "the gateway that has the session with server %s did not answer", a.id).
		WithHint("the tool may have run").Because(err)
	if fault.NotActed(err) {
		f = f.Unsent().WithHint("try again in a few seconds")
	}
	return marked(f, noVerdict)
}

// told is an error on its way between replicas.
type told struct {
	*fault.Error
	Unsent    bool `json:"unsent,omitempty"`
	NoVerdict bool `json:"noVerdict,omitempty"`
	Moved     bool `json:"moved,omitempty"`
}

func readTold(raw json.RawMessage) error {
	t := told{Error: &fault.Error{}}
	if err := json.Unmarshal(raw, &t); err != nil {
		return err
	}
	if t.Moved {
		return errSessionLost // it was not sent: look again where it is
	}
	err := t.Error
	if t.Unsent {
		err = err.Unsent()
	}
	if t.NoVerdict {
		return marked(err, noVerdict)
	}
	return err
}

// tell is an error for another replica. The server's own pass as they came.
func (p *Pool) tell(err error) error {
	var rpc *mcp.Error
	if err == nil || errors.As(err, &rpc) {
		return err
	}
	moved := errors.Is(err, errMoved)
	f := fault.As(err)
	if f.Hides() && !moved {
		p.opts.Logger.Error("another gateway was not served", "error", f)
	}
	data, err := json.Marshal(map[string]told{errorMember: {
		Error: f, Unsent: fault.NotActed(err), NoVerdict: hasMark(err, noVerdict), Moved: moved,
	}})
	if err != nil {
		return err
	}
	return &mcp.Error{Code: mcp.CodeInternal, Message: f.Message, Data: data}
}

// ServeSeat serves a caller's session with a server to the replica at which the caller's requests arrive.
func (p *Pool) ServeSeat(id tool.ServerID, session, owner string) mcp.Handler {
	return mcp.HandlerFunc(func(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
		if req.ID == nil {
			return nil, nil // callers' notifications go to all replicas
		}
		s, err := p.server(id)
		var raw json.RawMessage
		if err == nil {
			raw, err = s.serveSeat(ctx, caller{owner: owner, session: session, passed: true}, req)
		}
		if err != nil && ctx.Err() == nil {
			err = p.tell(err)
		}
		return raw, err
	})
}

func (s *server) serveSeat(ctx context.Context, who caller, req *mcp.Request) (json.RawMessage, error) {
	from := req.Speaker()
	who.asks = askable(from.Capabilities)
	who.home = from.Home
	if from.Era == mcp.Modern {
		who.modern = true
		who.home = mcp.Deaf
	}
	if req.Method == seatMethod {
		sess, err := s.acquire(ctx, who)
		if err != nil {
			return nil, unsent(err)
		}
		defer s.release(sess)
		b := rawjson.AppendString([]byte(`{"era":`), string(sess.era))
		return append(append(append(b, `,"hello":`...), sess.hello...), '}'), nil
	}
	name, _ := rawjson.String(rawjson.Get(req.Params, mcp.NamedBy(req.Method)))
	ctx, cancel := context.WithTimeout(ctx, max(s.timeout(name), time.Hour)+time.Hour) // the other one has a limit, but may be killed
	defer cancel()
	if name == "" && strings.HasPrefix(req.Method, "tasks/") {
		name, _ = rawjson.String(rawjson.Get(req.Params, "taskId"))
	}
	raw, _, err := s.do(ctx, who, outgoing{
		method: req.Method, params: req.Params, meta: mcp.FindMeta(req.Params), from: from, name: name, header: from.Header,
		caller: who.owner, peer: req.Client, tasks: mcp.Declares(from.Capabilities, mcp.ExtensionTasks),
	})
	return raw, err
}
