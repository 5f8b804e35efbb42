package run

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// onPage does what is not about one element.
func (r *Runner) onPage(ctx context.Context, s *steps.Step, until *deadline) error {
	switch s.Action {
	case steps.Navigate:
		return r.openWithin(ctx, r.address(s.Value), r.limit(s))
	case steps.Reload:
		return r.openWithin(ctx, r.where.url, r.limit(s))
	case steps.Back:
		return within(ctx, r.limit(s), "the page before", func(ctx context.Context) error {
			_, err := r.call(ctx, "browser_navigate_back", nil)
			return err
		})
	case steps.WaitFor:
		return r.wait(ctx, s.Wait, until)
	case steps.OnDialog:
		return r.dialog(ctx, s.Dialog)
	case steps.OnTab:
		return r.tab(ctx, s, until)
	case steps.Screenshot:
		r.picture(ctx, r.step)
		if r.step.Screenshot == nil {
			return fail(snapshot.CallFailed, "the server sent no picture")
		}
		return nil
	case steps.Expect:
		return nil
	case steps.SetVars:
		return r.set(s.Set)
	case steps.Eval:
		if !r.opts.Eval {
			return fail(snapshot.StepInvalid, "eval is switched off: it runs any code in the page")
		}
		_, err := r.call(ctx, "browser_evaluate", map[string]any{"function": s.Value})
		return err
	case steps.Tool:
		args := s.Arguments
		if len(args) == 0 {
			args = []byte("{}")
		}
		_, err := r.callRaw(ctx, Call{s.Tool, args})
		return err
	}
	return fail(snapshot.StepInvalid, "unknown action %q", s.Action)
}

func (r *Runner) set(vars map[string]string) error {
	for name, value := range vars {
		if err := r.vars.Set(name, value); err != nil {
			return fail(snapshot.StepInvalid, "%v", err)
		}
	}
	return nil
}

// address is a step's address with its base and scheme.
func (r *Runner) address(value string) string {
	base := r.opts.Base
	if base == "" {
		base = r.suite.Base
	}
	switch {
	case strings.Contains(value, "://"), strings.HasPrefix(value, "about:"), strings.HasPrefix(value, "data:"):
		return value
	case strings.HasPrefix(value, "/"), strings.HasPrefix(value, "?"), strings.HasPrefix(value, "#"), base != "" && !looksLikeHost(value):
		return strings.TrimSuffix(base, "/") + "/" + strings.TrimPrefix(value, "/")
	case strings.HasPrefix(value, "localhost"), strings.HasPrefix(value, "127.0.0.1"):
		return "http://" + value
	}
	return "https://" + value
}

func looksLikeHost(value string) bool {
	host, _, _ := strings.Cut(value, "/")
	return strings.Contains(host, ".") && !strings.HasSuffix(host, ".html") && !strings.HasSuffix(host, ".htm") || strings.HasPrefix(host, "localhost")
}

// openWithin goes to an address for as long as somebody has said; 0 leaves it to the server.
// A browser that is still to be started has its own time for that.
func (r *Runner) openWithin(ctx context.Context, to string, limit time.Duration) error {
	if limit > 0 && !r.awake {
		r.call(ctx, "browser_snapshot", nil) // one that cannot be started says so once more below
	}
	return within(ctx, limit, to, func(ctx context.Context) error { return r.navigate(ctx, to) })
}

// within opens a page, and gives up when it is not there in time. 0 sets no time.
func within(ctx context.Context, limit time.Duration, what string, open func(context.Context) error) error {
	if limit == 0 {
		return open(ctx)
	}
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := open(inner)
	if err != nil && inner.Err() != nil && ctx.Err() == nil {
		return fail(snapshot.TimedOut, "%s was not open after %s", what, limit)
	}
	return err
}

// noAddress says why something cannot be opened, and what to write instead; "" when it can.
func noAddress(to string) string {
	u, err := url.Parse(to)
	switch {
	case strings.HasPrefix(to, "/"):
		return "no address: " + to + "; the file has no base: add base: http://…, or serve: FOLDER, or run with --base-url"
	case err == nil && u.Scheme == "file":
		return "files are not opened: " + to + "; name their folder with serve: FOLDER and open them by /path"
	case err != nil, to == "", u.Host == "" && u.Scheme != "about" && u.Scheme != "data":
		return "no address: " + to
	}
	return ""
}

// navigate goes to an address and sees that the browser went there: some failures come as
// success. What was interrupted by the page before is tried again: its error page may still be
// on the way.
func (r *Runner) navigate(ctx context.Context, to string) error {
	if why := noAddress(to); why != "" {
		return &failure{code: snapshot.BadValue, message: why, expected: "https://… or /path with a base", actual: to}
	}
	before := r.where.url
	answer, err := r.call(ctx, "browser_navigate", map[string]any{"url": to})
	for tries := 0; err != nil && tries < 2 && codeOf(err) == snapshot.NavigationFailed && again(err.Error()); tries++ {
		if r.opts.Sleep(ctx, 2*firstGap) != nil {
			break
		}
		answer, err = r.call(ctx, "browser_navigate", map[string]any{"url": to})
		r.metrics.Recoveries.count(err == nil)
	}
	switch {
	case err != nil:
		return err
	case answer.Modal != nil && answer.URL == before && before != "":
		return &snapshot.Error{Code: snapshot.DialogOpen, Message: "the page did not move: a dialog is open: " + modalText(answer.Modal), Modal: answer.Modal}
	case strings.HasPrefix(r.where.url, "chrome-error:"):
		return &snapshot.Error{Code: snapshot.NavigationFailed, Message: "the browser could not open " + to}
	}
	return nil
}

// again tells whether a failed navigation is worth another try.
func again(message string) bool {
	for _, s := range []string{"interrupted by another navigation", "ERR_CONNECTION", "ERR_NETWORK_CHANGED", "ERR_EMPTY_RESPONSE"} {
		if strings.Contains(message, s) {
			return true
		}
	}
	return false
}

// longest is what the server waits in one call; it cuts longer times without a word.
const longest = 30 * time.Second

func (r *Runner) wait(ctx context.Context, w *steps.Wait, until *deadline) error {
	switch {
	case w.Text != "":
		return r.expect(ctx, []steps.Expectation{{Kind: steps.Text, Match: steps.Contains, Value: w.Text, Text: "text " + w.Text, Waited: true}}, until)
	case w.Gone != "":
		return r.expect(ctx, []steps.Expectation{{Kind: steps.NoText, Match: steps.Contains, Value: w.Gone, Text: "no text " + w.Gone, Waited: true}}, until)
	case w.URL != "":
		return r.expect(ctx, []steps.Expectation{{Kind: steps.URL, Match: steps.Contains, Value: w.URL, Text: "address with " + w.URL}}, until)
	}
	for left := w.Time; left > 0; left -= longest {
		if _, err := r.call(ctx, "browser_wait_for", map[string]any{"time": min(left, longest).Seconds()}); err != nil {
			return err
		}
	}
	return nil
}

func (r *Runner) tab(ctx context.Context, s *steps.Step, until *deadline) error {
	t := s.Tab
	switch {
	case t.New:
		if _, err := r.call(ctx, "browser_tabs", map[string]any{"action": "new"}); err != nil || t.URL == "" {
			return err
		}
		return r.openWithin(ctx, r.address(t.URL), r.limit(s))
	case t.Close:
		_, err := r.call(ctx, "browser_tabs", map[string]any{"action": "close"})
		return err
	}
	for {
		err := r.switchTo(ctx, t)
		if err == nil || codeOf(err) != snapshot.BadValue || !until.again(ctx) { // it may be about to open
			return err
		}
	}
}

func (r *Runner) switchTo(ctx context.Context, t *steps.Tab) error {
	switch {
	case t.Title != "":
		index, err := r.tabCalled(ctx, t.Title)
		if err != nil {
			return err
		}
		return r.selectTab(ctx, index)
	case t.Select < 0:
		answer, err := r.call(ctx, "browser_tabs", map[string]any{"action": "list"})
		if err != nil {
			return err
		}
		return r.selectTab(ctx, len(answer.Tabs)-1)
	}
	return r.selectTab(ctx, t.Select-1)
}

func (r *Runner) selectTab(ctx context.Context, index int) error {
	_, err := r.call(ctx, "browser_tabs", map[string]any{"action": "select", "index": index})
	return err
}

// tabCalled finds the one tab whose title or address holds the words.
func (r *Runner) tabCalled(ctx context.Context, words string) (int, error) {
	answer, err := r.call(ctx, "browser_tabs", map[string]any{"action": "list"})
	if err != nil {
		return 0, err
	}
	var hits []int
	for _, t := range answer.Tabs {
		if strings.Contains(strings.ToLower(t.Title), strings.ToLower(words)) || strings.Contains(t.URL, words) {
			hits = append(hits, t.Index)
		}
	}
	switch len(hits) {
	case 0:
		return 0, fail(snapshot.BadValue, "no tab is called %q", words)
	case 1:
		return hits[0], nil
	}
	return 0, fail(snapshot.Ambiguous, "%d tabs are called %q", len(hits), words)
}

// pathOf is an address without host, query and numbers, so that a memory of one order's
// page serves for the next.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	parts := strings.Split(u.Path, "/")
	for i, p := range parts {
		if p != "" && strings.Trim(p, "0123456789") == "" {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/")
}
