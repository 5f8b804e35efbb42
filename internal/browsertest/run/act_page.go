package run

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/find"
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
			return r.act(ctx, "browser_navigate_back", nil)
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
		return r.act(ctx, "browser_evaluate", map[string]any{"function": s.Value})
	case steps.Tool:
		_, err := r.callRaw(ctx, Call{s.Tool, s.Arguments})
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
	base := cmp.Or(r.opts.Base, r.suite.Base)
	switch {
	case strings.Contains(value, "://"), strings.HasPrefix(value, "about:"), strings.HasPrefix(value, "data:"):
		return value
	case value != "" && strings.Contains("/?#", value[:1]), base != "" && !looksLikeHost(value):
		return strings.TrimSuffix(base, "/") + "/" + strings.TrimPrefix(value, "/")
	case strings.HasPrefix(value, "localhost"), strings.HasPrefix(value, "127.0.0.1"):
		return "http://" + value
	}
	return "https://" + value
}

func looksLikeHost(value string) bool {
	host, _, _ := strings.Cut(value, "/")
	isFile := strings.HasSuffix(host, ".html") || strings.HasSuffix(host, ".htm")
	return strings.Contains(host, ".") && !isFile || strings.HasPrefix(host, "localhost")
}

// openWithin goes to an address within a limit, without the browser's start; 0 leaves it to the server.
func (r *Runner) openWithin(ctx context.Context, to string, limit time.Duration) error {
	if limit > 0 && !r.awake {
		r.call(ctx, "browser_snapshot", nil) // its error comes again below
	}
	return within(ctx, limit, to, func(ctx context.Context) error { return r.navigate(ctx, to) })
}

// within opens a page within a limit; 0 for none.
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

// noAddress says why an address cannot be opened, and what to write instead; "" when it can.
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

// navigate goes to an address and checks that the browser went there, since servers report some
// errors as success. It retries when the page before interrupts it.
func (r *Runner) navigate(ctx context.Context, to string) error {
	if why := noAddress(to); why != "" {
		return &stepError{code: snapshot.BadValue, message: why, expected: "https://… or /path with a base", actual: to}
	}
	before := r.where.url
	answer, err := r.call(ctx, "browser_navigate", map[string]any{"url": to})
	for tries := 0; tries < 2 && isTransient(err); tries++ {
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
		return dialogOpen("the page did not move: a dialog is open: ", answer.Modal)
	case strings.HasPrefix(r.where.url, "chrome-error:"):
		return &snapshot.Error{Code: snapshot.NavigationFailed, Message: "the browser could not open " + to}
	}
	return nil
}

// transient are the texts of a failed navigation that is worth another try.
var transient = []string{"interrupted by another navigation", "ERR_CONNECTION", "ERR_NETWORK_CHANGED", "ERR_EMPTY_RESPONSE"}

func isTransient(err error) bool {
	if err == nil || codeOf(err) != snapshot.NavigationFailed {
		return false
	}
	return slices.ContainsFunc(transient, func(s string) bool { return strings.Contains(err.Error(), s) })
}

// longest is what the server waits in one call; it shortens longer times silently.
const longest = 30 * time.Second

func (r *Runner) wait(ctx context.Context, w *steps.Wait, until *deadline) error {
	for _, e := range []steps.Expectation{
		{Kind: steps.Text, Value: w.Text, Text: "text " + w.Text, Waited: true},
		{Kind: steps.NoText, Value: w.Gone, Text: "no text " + w.Gone, Waited: true},
		{Kind: steps.URL, Value: w.URL, Text: "address with " + w.URL},
	} {
		if e.Value != "" {
			e.Match = steps.Contains
			return r.expect(ctx, []steps.Expectation{e}, until)
		}
	}
	for left := w.Time; left > 0; left -= longest {
		if err := r.act(ctx, "browser_wait_for", map[string]any{"time": min(left, longest).Seconds()}); err != nil {
			return err
		}
	}
	return nil
}

func (r *Runner) tab(ctx context.Context, s *steps.Step, until *deadline) error {
	t := s.Tab
	switch {
	case t.New:
		if err := r.act(ctx, "browser_tabs", map[string]any{"action": "new"}); err != nil || t.URL == "" {
			return err
		}
		return r.openWithin(ctx, r.address(t.URL), r.limit(s))
	case t.Close:
		return r.act(ctx, "browser_tabs", map[string]any{"action": "close"})
	}
	started := r.opts.Now()
	for {
		err := r.switchTo(ctx, t)
		if tab := r.pageTab(ctx, t); tab != nil && codeOf(err) == snapshot.BadValue && r.opts.Now().Sub(started) >= tabOpens {
			return r.onElement(ctx, &steps.Step{Target: tab}, find.Click, "browser_click", nil, until)
		}
		if err == nil || codeOf(err) != snapshot.BadValue || !until.again(ctx) { // it may be about to open
			return err
		}
	}
}

// tabOpens is how long a tab of the browser may take before one of the page can be meant.
const tabOpens = time.Second

// pageTab is the tab on the page itself that a step may mean; nil for none.
func (r *Runner) pageTab(ctx context.Context, t *steps.Tab) *steps.Target {
	var list []*steps.Target
	if t.Title != "" {
		list = append(list, &steps.Target{Text: `"` + t.Title + `" tab`})
	}
	if t.Select > 0 {
		list = append(list, &steps.Target{Text: fmt.Sprintf("tab %d", t.Select)}, &steps.Target{Text: "tab", Nth: t.Select})
	}
	for _, target := range list {
		if r.sees(ctx, target, find.Click) != nil {
			return target
		}
	}
	return nil
}

func (r *Runner) switchTo(ctx context.Context, t *steps.Tab) error {
	index := t.Select - 1
	if t.Title != "" || t.Select < 0 {
		answer, err := r.call(ctx, "browser_tabs", map[string]any{"action": "list"})
		if err != nil {
			return err
		}
		index = len(answer.Tabs) - 1
		if t.Title != "" {
			index, err = tabCalled(answer.Tabs, t.Title)
		}
		if err != nil {
			return err
		}
	}
	return r.act(ctx, "browser_tabs", map[string]any{"action": "select", "index": index})
}

// tabCalled finds the one tab whose title or address holds the words.
func tabCalled(tabs []snapshot.Tab, words string) (int, error) {
	var hits []int
	for _, t := range tabs {
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

// pathOf is an address without host, query and numbers, so that it is the same for every order.
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
