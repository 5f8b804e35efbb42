package endpoint

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/state/config"
)

// explain turns an error of the HTTP client into a fault.
func explain(ctx, limited context.Context, m *config.Model, err error) error {
	var known *fault.Error
	var unreached *url.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		return fault.New(fault.UpstreamTimeout, "model %s did not finish its answer within %s", m.Name, m.Timeout).
			WithHint("raise the model's timeout")
	case errors.As(err, &unreached) && errors.As(unreached.Err, &known): // it redirects to where our key must not go
		return fault.New(known.Code, "model %s: %s", m.Name, known.Message).WithHint("%s", known.Hint)
	case errors.As(err, &known):
		return err
	case errors.As(err, &unreached):
		reason := short(fault.Plain(unreached).Error())
		return fault.New(fault.UpstreamDown, "model %s cannot be reached at %s: %s", m.Name, origin.Shown(m.URL), reason).
			WithHint("check the url of the model, and that its server runs")
	}
	return fault.New(fault.UpstreamProtocol, "the answer of model %s cannot be read to its end: %s", m.Name, short(fault.Plain(err).Error())).
		WithHint(askAgain)
}

// explainStatus turns an error status into a fault, with the endpoint's own message.
func explainStatus(m *config.Model, refused *http.Response) error {
	message := cmp.Or(said(errorPage(refused)), http.StatusText(refused.StatusCode))
	switch refused.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.New(fault.UpstreamError, "model %s does not accept our key: %s", m.Name, message).WithHint("check the key of the model")
	case http.StatusNotFound:
		return fault.New(fault.UpstreamError, "model %s was not found: %s", m.Name, message).
			WithHint("check the url and model of models.%s", m.Name)
	case http.StatusTooManyRequests:
		return fault.New(fault.RateLimited, "model %s is rate limited: %s", m.Name, message).
			WithHint("try again %s", later(refused.Header.Get("Retry-After")))
	case http.StatusRequestEntityTooLarge:
		return fault.New(fault.TooLarge, "model %s does not accept a request of this length: %s", m.Name, message).
			WithHint("say less, or lower memory_limit or max_tool_result_length of the agent")
	}
	f := fault.New(fault.UpstreamError, "model %s answered HTTP %d: %s", m.Name, refused.StatusCode, message)
	switch {
	case refused.StatusCode >= http.StatusInternalServerError:
		return f.WithHint(askAgain)
	case m.Tools != config.TextTools && strings.Contains(message, "tool"):
		return f.WithHint("if the model has no function calling, set tools: text of models.%s", m.Name)
	}
	return f
}

// askAgain is the hint when the model's server is at fault.
const askAgain = "ask again; if that does not help, see the log of the model's server"

// later says when to try again, from a Retry-After header.
func later(after string) string {
	switch _, err := strconv.Atoi(after); {
	case err == nil:
		return "in " + after + " seconds"
	case after != "":
		return "after " + short(after)
	}
	return "later"
}

// maxSaid limits the length of an endpoint's own message.
const maxSaid = 500

// short returns a text on one line, truncated.
func short(text string) string {
	return visible.Beginning(strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " "), maxSaid)
}
