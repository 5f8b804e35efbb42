package call

import (
	"context"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/config"
)

// attempt fits the arguments and sends them. A call known not to have acted is retried, then replaced by its fallbacks, as configured.
func (c *Caller) attempt(ctx context.Context, asked sent, req *Request, rec *recording) (sent, upstream.Outcome, error) {
	s, out, first := c.retry(ctx, asked, req, rec)
	if first == nil || asked.entry.Override == nil {
		return s, out, first
	}
	last := first
	for _, alt := range asked.entry.Override.Fallback {
		if ctx.Err() != nil || !fault.NotActed(last) {
			break
		}
		other, err := asked.fallback(alt)
		if err == nil {
			other, out, err = c.once(ctx, other, req, rec)
		}
		if err == nil {
			rec.note("instead of " + string(asked.entry.Name) + ": " + string(other.entry.Name))
			return other, out, nil
		}
		last = err
		rec.warn("Fallback failed: " + fault.As(err).Message)
	}
	return s, upstream.Outcome{}, first
}

// fallback is the call with another tool, which the caller's profile must have, or with other arguments.
func (s sent) fallback(alt config.Fallback) (sent, error) {
	if alt.Tool != "" {
		s.entry = s.view.Named(tool.Name(alt.Tool))
		if s.entry == nil {
			return s, fault.New(fault.UnknownTool, "unknown tool: %.100s", alt.Tool)
		}
	}
	if alt.Args != nil {
		s.args = alt.Args
	}
	return s, nil
}

// retryAfter is how long the first retry waits; each further one waits twice as long.
const retryAfter = 100 * time.Millisecond

// retry makes the call, and repeats it where that is safe and configured.
func (c *Caller) retry(ctx context.Context, asked sent, req *Request, rec *recording) (sent, upstream.Outcome, error) {
	retries := 0
	if asked.entry.Override != nil {
		retries = asked.entry.Override.Retry
	}
	for n := 0; ; n++ {
		s, out, err := c.once(ctx, asked, req, rec)
		if err == nil || n == retries || !fault.NotActed(err) || fault.Is(err, fault.BadArguments) {
			return s, out, err
		}
		rec.note("made again: " + fault.As(err).Message)
		timer := time.NewTimer(retryAfter << n)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return s, out, err
		}
	}
}

// once is at most one upstream request.
func (c *Caller) once(ctx context.Context, s sent, req *Request, rec *recording) (sent, upstream.Outcome, error) {
	var out upstream.Outcome
	if s.entry.Browser && !req.Found && c.opts.FindElements != nil {
		args, answer, err := c.opts.FindElements(ctx, req, s.entry, s.args)
		if err != nil || answer != nil {
			out.Raw = answer
			return s, out, err
		}
		s.args = args
	}
	msg, err := c.fit(ctx, &s, req)
	if err != nil {
		return s, out, err
	}
	if c.log.Refuses() != nil && !s.entry.ReadOnly() {
		return s, out, ErrUnrecordable
	}
	switch {
	case s.own(FetchResult):
		out.Raw, err = c.fetch(ctx, req, s.fitted.Args, rec)
	case s.entry.Own:
		out.Raw, err = c.opts.Own[s.entry.Shown](ctx, req, s.fitted.Args)
	default:
		if err := c.mayDetach(ctx, &s, req, rec, &msg); err != nil {
			return s, out, err
		}
		out, err = c.send(ctx, s.entry, msg)
	}
	return s, out, err
}
