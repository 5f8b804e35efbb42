package call

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/config"
)

// attempt fits the arguments and sends them. A call known not to have acted is retried, then replaced by its fallbacks, as
// configured: s is then what was sent instead.
func (c *Caller) attempt(ctx context.Context, s *sent, req *Request, rec *recording) (upstream.Outcome, error) {
	asked := s.args
	out, first := c.retry(ctx, s, req, rec)
	if first == nil || s.entry.Override == nil {
		return out, first
	}
	return c.fallBack(ctx, s, asked, req, rec, first)
}

// fallBack sends what is configured instead of a call that has not acted.
func (c *Caller) fallBack(
	ctx context.Context, s *sent, asked json.RawMessage, req *Request, rec *recording, first error,
) (upstream.Outcome, error) {
	last := first
	for _, alt := range s.entry.Override.Fallback {
		if ctx.Err() != nil || !fault.NotActed(last) {
			break
		}
		other, err := s.fallback(alt, asked)
		var out upstream.Outcome
		if err == nil {
			out, err = c.once(ctx, &other, req, rec)
		}
		if err == nil {
			rec.note("instead of " + string(s.entry.Name) + ": " + string(other.entry.Name))
			*s = other
			return out, nil
		}
		if fault.Is(err, fault.ApprovalRequired) { // the caller has to know where
			*s = other
			return out, err
		}
		last = err
		rec.warn("Fallback failed: " + fault.As(err).Message)
	}
	return upstream.Outcome{}, first
}

// fallback is the call with another tool, which the caller's profile must have, or with other arguments than it was asked with.
func (s *sent) fallback(alt config.Fallback, asked json.RawMessage) (sent, error) {
	other := *s
	other.args = asked
	if alt.Tool != "" {
		other.entry = s.view.Named(tool.Name(alt.Tool))
		if other.entry == nil {
			return other, fault.New(fault.UnknownTool, "unknown tool: %.100s", alt.Tool)
		}
	}
	if alt.Args != nil {
		other.args = alt.Args
	}
	return other, nil
}

// retryAfter is how long the first retry waits; each further one waits twice as long.
const retryAfter = 100 * time.Millisecond

// retry makes the call, and repeats it where that is safe and configured.
func (c *Caller) retry(ctx context.Context, s *sent, req *Request, rec *recording) (upstream.Outcome, error) {
	asked := s.args
	retries := 0
	if s.entry.Override != nil {
		retries = s.entry.Override.Retry
	}
	for n := 0; ; n++ {
		out, err := c.once(ctx, s, req, rec)
		if err == nil || n == retries || !fault.NotActed(err) || fault.Is(err, fault.BadArguments) {
			return out, err
		}
		rec.note("made again: " + fault.As(err).Message)
		timer := time.NewTimer(retryAfter << n)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return out, err
		}
		s.args = asked
	}
}

// once is at most one upstream request.
func (c *Caller) once(ctx context.Context, s *sent, req *Request, rec *recording) (out upstream.Outcome, err error) {
	if s.entry.Browser && !req.Found && c.opts.FindElements != nil {
		args, answer, err := c.opts.FindElements(ctx, req, s.entry, s.args)
		if err != nil || answer != nil {
			out.Raw = answer
			return out, err
		}
		s.args = args
	}
	msg, err := c.fit(ctx, s, req)
	if err != nil {
		return out, c.orDenied(s, req, rec, err)
	}
	if c.log.Refuses() != nil && !s.entry.ReadOnly() {
		return out, ErrUnrecordable
	}
	if !s.entry.Own && (s.view.Ruled() || rec.person != "") {
		rec.sends(s, req)
		p := Permission{Tool: s.entry.PolicyTool(), Args: s.fitted.Args, after: c.detachAfter(s, req)}
		if err := c.permit(ctx, s.view, req, rec, p); err != nil {
			return out, err
		}
	}
	switch {
	case s.runs():
		out, err = c.runScript(ctx, s, req, rec)
	case s.own(FetchResult):
		out.Raw, err = c.fetch(ctx, req, s.fitted.Args, rec)
	case s.entry.Own:
		out.Raw, err = c.opts.Own[s.entry.Shown](ctx, req, s.fitted.Args)
	default:
		if err := c.mayDetach(ctx, s, req, rec, &msg); err != nil {
			return out, err
		}
		if req.script != nil {
			if err := req.script.sends(ctx, s.entry, rec.call.ID); err != nil {
				return out, err
			}
		}
		out, err = c.send(ctx, s.entry, msg)
		if fault.Is(err, fault.LoginRequired) && c.opts.SignIn != nil && c.opts.SignIn(ctx, req, s.entry.Server) {
			out, err = c.send(ctx, s.entry, msg)
		}
	}
	return out, err
}
