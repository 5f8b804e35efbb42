package run

import "context"

// startTrace has the server record the case, where it has the tool.
func (r *Runner) startTrace(ctx context.Context) {
	if _, can := r.tools["browser_start_tracing"]; can && r.opts.Trace != nil {
		r.call(ctx, "browser_start_tracing", nil) // a case is worth more than its recording
	}
}

// stopTrace ends the recording and is what the server says of it.
func (r *Runner) stopTrace(ctx context.Context) string {
	if _, can := r.tools["browser_stop_tracing"]; !can || r.opts.Trace == nil || ctx.Err() != nil {
		return ""
	}
	answer, err := r.call(ctx, "browser_stop_tracing", nil)
	if err != nil {
		return "no recording: " + r.said(err)
	}
	return r.mask(r.opts.Trace(answer.Result))
}
