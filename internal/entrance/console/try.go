package console

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

// ToolCaller calls tools.
type ToolCaller interface {
	CallTool(ctx context.Context, who access.Principal, name string, args json.RawMessage, q url.Values) (restapi.CallAnswer, error)
}

// tried is the outcome of a call that a person made.
type tried struct {
	restapi.CallAnswer
	Sent   block // arguments as entered
	Got    block // arguments as the tool got them
	Result block
	Tokens int // of the result, estimated
	Took   time.Duration
	Fault  *fault.Error // why there is no result
	Error  bool         // the tool returned an error
}

// tryTool calls a tool with the arguments that a person entered.
func (c *Console) tryTool(v *visit) (answer, error) {
	p, err := c.toolPage(v, v.PostForm)
	if err != nil {
		return answer{}, err
	}
	p.View = v.PostForm.Get("view")
	p.JSON = v.PostForm.Get("json")
	args := argumentsOf(p.Fields, v.PostForm)
	if p.Whole {
		args = json.RawMessage(strings.TrimSpace(p.JSON))
	}
	q := url.Values{"profile": {p.Profile}}
	if p.View == "model" {
		q.Set("view", "model")
	}
	began := time.Now()
	out, err := c.ToolCaller.CallTool(v.Context(), v.who, p.Name, args, q)
	p.Tried = &tried{CallAnswer: out, Sent: code(text(v.lang, "try.sent"), args), Took: time.Since(began)}
	switch {
	case err != nil && fault.As(err).Code == fault.Internal:
		return answer{}, err
	case err != nil:
		p.Tried.Fault = fault.As(err)
	default:
		p.Tried.Result = code(text(v.lang, "try.result"), out.Result)
		p.Tried.Tokens = project.Tokens(out.Result)
		p.Tried.Error = toolError(out.Result)
	}
	if out.Fitted != nil {
		p.Tried.Got = code(text(v.lang, "try.fitted"), out.Fitted.Arguments)
	}
	return v.update("tool", "tried", p)
}

// toolError tells whether a result is marked as an error.
func toolError(result json.RawMessage) bool {
	var r struct {
		IsError bool `json:"isError"`
	}
	return json.Unmarshal(result, &r) == nil && r.IsError
}
