package endpoint

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/state/config"
)

// explain turns an error of the client into one that says what is wrong with which model.
func explain(ctx, limited context.Context, m *config.Model, err error) error {
	var known *fault.Error
	var unreached *url.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		return fault.New(fault.UpstreamTimeout, "model %s did not finish its answer within %s", m.Name, m.Timeout).WithHint("raise the model's timeout")
	case errors.As(err, &unreached) && errors.As(unreached.Err, &known): // it redirects to where our key must not go
		return fault.New(known.Code, "model %s: %s", m.Name, known.Message).WithHint("%s", known.Hint)
	case errors.As(err, &known):
		return err
	case errors.As(err, &unreached):
		return fault.New(fault.UpstreamDown, "model %s cannot be reached at %s: %s", m.Name, origin.Shown(m.URL), short(fault.Plain(unreached).Error())).
			WithHint("check the url of the model, and that its server runs")
	}
	return fault.New(fault.UpstreamProtocol, "the answer of model %s cannot be read to its end: %s", m.Name, short(fault.Plain(err).Error())).WithHint(askAgain)
}

// explainStatus says what an endpoint refuses, in its own words where it has some. They are
// read here: the client knows one form of errors, and endpoints have several.
func explainStatus(m *config.Model, refused *http.Response) error {
	page, _ := io.ReadAll(refused.Body) // the client has it in memory
	said := cmp.Or(said(page), http.StatusText(refused.StatusCode))
	switch refused.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.New(fault.UpstreamError, "model %s does not take our key: %s", m.Name, said).WithHint("check the key of the model")
	case http.StatusNotFound:
		return fault.New(fault.UpstreamError, "model %s is not there: %s", m.Name, said).WithHint("check url and model of the model %s", m.Name)
	case http.StatusTooManyRequests:
		return fault.New(fault.RateLimited, "model %s is asked too often: %s", m.Name, said).WithHint("try again %s", later(refused.Header.Get("Retry-After")))
	case http.StatusRequestEntityTooLarge:
		return fault.New(fault.TooLarge, "model %s takes no request of this length: %s", m.Name, said).
			WithHint("say less, or lower memory_limit or max_tool_result_length of the agent")
	}
	f := fault.New(fault.UpstreamError, "model %s answered HTTP %d: %s", m.Name, refused.StatusCode, said)
	switch {
	case refused.StatusCode >= http.StatusInternalServerError:
		return f.WithHint(askAgain)
	case m.Tools != config.TextTools && strings.Contains(said, "tool"):
		return f.WithHint("if the model has no function calling, set tools: text of models.%s", m.Name)
	}
	return f
}

// askAgain is the advice where the model's server is at fault.
const askAgain = "ask again; if that does not help, see the log of the model's server"

// later is when to try again: as the endpoint says, in seconds or as a date.
func later(after string) string {
	switch _, err := strconv.Atoi(after); {
	case err == nil:
		return "in " + after + " seconds"
	case after != "":
		return "after " + short(after)
	}
	return "later"
}

// maxSaid bounds what is passed on of an endpoint's own words.
const maxSaid = 500

// short is a text on one line, of bounded length.
func short(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if r := []rune(text); len(r) > maxSaid {
		return string(r[:maxSaid]) + "…"
	}
	return text
}
