package console

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// tried is how a call went that a person made.
type tried struct {
	restapi.CallAnswer
	Sent   block // the arguments as they were put in
	Got    block // as the tool got them
	Result block
	Tokens int // of the result, estimated
	Took   time.Duration
	Fault  *fault.Error // why there is no result
	Error  bool         // the tool itself says that it did not work
}

// tryTool calls a tool with what a person put into its form.
func (c *Console) tryTool(v *visit) (answer, error) {
	p, err := c.toolPage(v, v.PostForm)
	if err != nil {
		return answer{}, err
	}
	p.View, p.JSON = v.PostForm.Get("view"), v.PostForm.Get("json")
	args := argumentsOf(p.Fields, v.PostForm)
	if p.Whole {
		args = json.RawMessage(strings.TrimSpace(p.JSON))
	}
	q := url.Values{"profile": {p.Profile}}
	if p.View == "model" {
		q.Set("view", "model")
	}
	began := time.Now()
	out, err := c.Gateway.CallTool(v.Context(), v.who, p.Name, args, q)
	p.Tried = &tried{CallAnswer: out, Sent: code(text(v.lang, "try.sent"), args), Took: time.Since(began)}
	switch {
	case err != nil && fault.As(err).Code == fault.Internal:
		return answer{}, err
	case err != nil:
		p.Tried.Fault = fault.As(err)
	default:
		p.Tried.Result, p.Tried.Tokens = code(text(v.lang, "try.result"), out.Result), project.Tokens(out.Result)
		p.Tried.Error = toolError(out.Result)
	}
	if out.Fitted != nil {
		p.Tried.Got = code(text(v.lang, "try.fitted"), out.Fitted.Arguments)
	}
	if v.Header.Get("HX-Request") != "" {
		return part("tool", "tried", p)
	}
	return show("tool", p)
}

// toolError tells whether a result says of itself that it is an error.
func toolError(result json.RawMessage) bool {
	var r struct {
		IsError bool `json:"isError"`
	}
	return json.Unmarshal(result, &r) == nil && r.IsError
}
