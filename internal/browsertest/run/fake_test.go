package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// fakeBrowser is a browser made of funcs, with a clock that only sleeping moves.
type fakeBrowser struct {
	tree  func() string                                       // the page
	on    map[string]func(args map[string]any) (string, bool) // answers: text, isError
	err   map[string]error                                    // of the transport
	tools []run.Tool
	url   string
	calls []string
	now   time.Time
}

func (b *fakeBrowser) Tools(context.Context) ([]run.Tool, error) {
	if b.tools == nil {
		for _, name := range strings.Fields("browser_click browser_type browser_snapshot browser_navigate browser_navigate_back " +
			"browser_select_option browser_hover browser_drag browser_press_key browser_wait_for browser_handle_dialog browser_file_upload " +
			"browser_tabs browser_evaluate browser_take_screenshot browser_close") {
			schema := json.RawMessage(`{"type":"object","properties":{"target":{"type":"string"}}}`)
			b.tools = append(b.tools, run.Tool{Name: name, InputSchema: schema})
		}
	}
	return b.tools, nil
}

func (b *fakeBrowser) Call(_ context.Context, _, c run.Call) (json.RawMessage, error) {
	tool, raw := c.Tool, c.Arguments
	b.calls = append(b.calls, tool+" "+string(raw))
	if err := b.err[tool]; err != nil {
		return nil, err
	}
	var args map[string]any
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, err
	}
	if f := b.on[tool]; f != nil {
		text, isError := f(args)
		return answer(text, isError), nil
	}
	switch tool {
	case "browser_snapshot":
		return answer(fmt.Sprintf("### Page\n- Page URL: %s\n- Page Title: T\n### Snapshot\n```yaml\n%s\n```\n", b.url, b.tree()), false), nil
	case "browser_navigate":
		b.url = args["url"].(string)
		return answer("### Page\n- Page URL: "+b.url+"\n", false), nil
	case "browser_take_screenshot":
		return json.RawMessage(`{"content":[{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}]}`), nil
	}
	return answer("### Result\nok\n", false), nil
}

func answer(text string, isError bool) json.RawMessage {
	b, _ := json.Marshal(map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}, "isError": isError})
	return b
}

// runner makes a runner on the fake, with its clock.
func (b *fakeBrowser) runner(opts run.Options) *run.Runner {
	b.now = time.Unix(0, 0)
	opts.Now = func() time.Time { return b.now }
	opts.Sleep = func(ctx context.Context, d time.Duration) error { b.now = b.now.Add(d); return ctx.Err() }
	return run.New(b, &opts)
}

// acted are the calls that do something.
func (b *fakeBrowser) acted() (list []string) {
	for _, c := range b.calls {
		if !strings.Contains(c, "what is asked about") && !strings.HasPrefix(c, "browser_snapshot") &&
			!strings.HasPrefix(c, "browser_take_screenshot") {
			list = append(list, c)
		}
	}
	return list
}

func page(text string) func() string { return func() string { return text } }

// one runs steps, written as YAML, as one case.
func one(b *fakeBrowser, opts run.Options, yaml string) (run.CaseResult, *run.Result) {
	suite, err := steps.Parse("t.yaml", []byte(yaml), nil)
	if err != nil {
		panic(err)
	}
	res := b.runner(opts).Suite(context.Background(), suite)
	return res.Cases[0], res
}

var errPipe = errors.New("the pipe is closed")
