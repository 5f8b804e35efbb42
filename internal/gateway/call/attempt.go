package call

import (
	"context"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/config"
)

// sent is a call that reached its server.
type sent struct {
	target
	fitted fit.Result
	out    upstream.Outcome
}

// attempt fits the arguments and sends them. Where the configuration says so, a call that
// is known not to have acted is made again, and then others in its place. When nothing
// works, the first error is the one that counts.
func (c *Caller) attempt(ctx context.Context, t target, req *Request, rec *recording) (sent, error) {
	s, first := c.again(ctx, t, req, rec)
	if first == nil || t.entry.Override == nil {
		return s, first
	}
	asked, last := s, first
	for _, alt := range t.entry.Override.Fallback {
		if ctx.Err() != nil || !fault.NotActed(last) {
			break
		}
		other, err := c.alternative(t, alt)
		if err == nil {
			s, err = c.once(ctx, other, req)
		}
		if err == nil {
			rec.note("instead of " + string(t.entry.Name) + ": " + string(other.entry.Name))
			return s, nil
		}
		last = err
		text := "Fallback failed: " + fault.As(err).Message
		rec.note(text)
		c.opts.Logger.Warn(text, "call", rec.call.ID, "tool", t.entry.Name)
	}
	return asked, first
}

// alternative is what a fallback means for a call: another tool, which the caller's profile
// must have, or the same with other arguments.
func (c *Caller) alternative(t target, alt config.Fallback) (target, error) {
	if alt.Tool != "" {
		e := t.view.Named(tool.Name(alt.Tool))
		if e == nil {
			return t, fault.New(fault.UnknownTool, "unknown tool: %.100s", alt.Tool)
		}
		t.entry = e
	}
	if alt.Args != nil {
		t.args = alt.Args
	}
	return t, nil
}

// pause is how long the first repetition waits; each further one waits twice as long.
const pause = 100 * time.Millisecond

// again makes the call, and repeats it where that is safe and wanted.
func (c *Caller) again(ctx context.Context, t target, req *Request, rec *recording) (sent, error) {
	retries := 0
	if t.entry.Override != nil {
		retries = t.entry.Override.Retry
	}
	for n := 0; ; n++ {
		s, err := c.once(ctx, t, req)
		if err == nil || n == retries || !fault.NotActed(err) || fault.Is(err, fault.BadArguments) {
			return s, err
		}
		rec.note("made again: " + fault.As(err).Message)
		timer := time.NewTimer(pause << n)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return s, err
		}
	}
}

// once is exactly one upstream request, or none.
func (c *Caller) once(ctx context.Context, t target, req *Request) (sent, error) {
	s := sent{target: t}
	if t.entry.Browser && !req.Found && c.opts.FindElements != nil {
		args, answer, err := c.opts.FindElements(ctx, req, t.entry, t.args)
		if err != nil || answer != nil {
			s.out.Raw = answer
			return s, err
		}
		t.args = args
		s.target = t
	}
	msg, fitted, err := c.fit(ctx, t, req)
	if err != nil {
		return s, err
	}
	s.fitted = fitted
	if c.log.Refuses() != nil && !t.entry.ReadOnly() {
		return s, ErrUnrecordable
	}
	if t.entry.Own {
		s.out.Raw, err = c.opts.Own[t.entry.Shown](ctx, req, fitted.Args)
		return s, err
	}
	s.out, err = c.send(ctx, t.entry, msg)
	return s, err
}
