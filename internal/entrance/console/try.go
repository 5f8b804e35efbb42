package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/core/form"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

// ToolCaller calls tools.
type ToolCaller interface {
	CallTool(ctx context.Context, who access.Principal, name string, args json.RawMessage, q url.Values, f *restapi.Follower) (restapi.CallAnswer, error)
	CurlTool(ctx context.Context, who access.Principal, name string, args json.RawMessage, q url.Values) (string, error)
}

// tryPart is what the page of a tool needs to try it.
type tryPart struct {
	Form  *form.Form
	Note  badge  // about what is in the form; zero: nothing is to be said
	View  string // the full result, or the result for models
	Lines []line // the same call elsewhere
	Tried *tried
}

type tried struct {
	restapi.CallAnswer
	Args   string // as entered, to make the call again; "": they are too long
	Sent   block  // arguments as entered
	Got    block  // arguments as the tool got them
	Result block
	Tokens int // of the result, estimated
	Took   time.Duration
	Fault  *fault.Error // why there is no result
	Error  bool         // the tool returned an error
}

const (
	// maxTried is how many bytes of a result are shown beside the form. The page of the call shows more.
	maxTried = 20_000
	// maxAgain is how many bytes of arguments a page holds to make a call again.
	maxAgain = 4000
)

// showTool is the page of a tool, with the arguments of an earlier call if the address names one.
func (c *Console) showTool(v *visit) (*toolPage, error) {
	q := v.URL.Query()
	args, note := c.argumentsFrom(v, q)
	p, err := c.toolPage(v, q)
	if err != nil {
		return nil, err
	}
	s := form.Read(p.InputSchema)
	p.Note = note
	c.setForm(v, p, s.Form(s.Fill(args)))
	return p, nil
}

// argumentsFrom are the arguments of the call that the address names, as far as the person may see them, and what there is to
// say about them. The profile is that of the call unless the address says otherwise.
func (c *Console) argumentsFrom(v *visit, q url.Values) (args json.RawMessage, note badge) {
	id := q.Get("from")
	if id == "" {
		return nil, badge{}
	}
	one, err := c.Calls.ReadCall(v.Context(), v.who, id)
	if err != nil {
		return nil, badge{"warn", text(v.lang, "try.noCall")}
	}
	if one.Profile != "" && !q.Has("profile") && v.who.Has(one.Profile) {
		q.Set("profile", one.Profile)
	}
	good := badge{"good", text(v.lang, "try.from")}
	if one.Arguments != nil && one.Arguments.Sent != nil {
		return one.Arguments.Sent, good
	}
	full, err := c.Results.StoredResult(v.Context(), v.who, id)
	if err == nil && full.Arguments != nil {
		return full.Arguments, good
	}
	if one.BytesIn > int64(len("{}")) {
		return nil, badge{"warn", text(v.lang, "try.notStored")}
	}
	return nil, good
}

func (c *Console) setForm(v *visit, p *toolPage, f *form.Form) {
	p.Form = f
	p.Lines = c.linesOf(v, p, f.Arguments())
}

// readTry reads the form that was posted, after the button that changes it, if one was pressed.
func (c *Console) readTry(v *visit) (p *toolPage, changed bool, err error) {
	p, err = c.toolPage(v, v.PostForm)
	if err != nil {
		return nil, false, err
	}
	s := form.Read(p.InputSchema)
	p.View = v.PostForm.Get("view")
	posted := v.PostForm
	button := posted.Get(form.Do)
	if button != "" {
		posted = s.Change(posted, button)
	}
	f := s.Form(posted)
	if button == "form" && f.Whole {
		p.Note = badge{"warn", text(v.lang, "form.noFields")}
	}
	if f.Goes != nil && v.Header.Get("HX-Request") != "" {
		f.Goes.Focus = "data-focus" // a browser heeds autofocus only in a page that it loads
	}
	c.setForm(v, p, f)
	return p, button != "", nil
}

// showLines shows the same call elsewhere, with what is in the form now.
func (c *Console) showLines(v *visit) (answer, error) {
	p, _, err := c.readTry(v)
	if err != nil {
		return answer{}, err
	}
	return answer{page: "tool", block: "lines", data: p}, nil
}

// tryTool calls a tool with the arguments that a person entered, or changes the form in which they are entered.
func (c *Console) tryTool(v *visit) (answer, error) {
	p, changed, err := c.readTry(v)
	if err != nil {
		return answer{}, err
	}
	if changed {
		return v.update("tool", "tryForm", p)
	}
	if v.Header.Get("Accept") == "text/event-stream" {
		return serve(func(w http.ResponseWriter) { c.streamTry(w, v, p) })
	}
	if err := c.try(v, p, nil); err != nil && (fault.As(err).Code == fault.Internal || !p.May) { // without a form nothing is shown below it
		return answer{}, err
	}
	return v.update("tool", "tried", p)
}

// try makes the call. What the person or the tool has done wrong is shown on the page, and returned.
func (c *Console) try(v *visit, p *toolPage, f *restapi.Follower) error {
	args := p.Form.Arguments()
	q := url.Values{"profile": {p.Profile}}
	if p.View == "model" {
		q.Set("view", "model")
	}
	p.Tried = &tried{Sent: codeUpTo(text(v.lang, "try.sent"), args, maxTried)}
	if len(args) <= maxAgain {
		p.Tried.Args = string(args)
	}
	err := p.Form.Check()
	if err != nil {
		err = fault.New(fault.BadRequest, "the arguments are no JSON: %w", err)
	} else {
		began := time.Now()
		p.Tried.CallAnswer, err = c.ToolCaller.CallTool(v.Context(), v.who, p.Name, args, q, f)
		p.Tried.Took = time.Since(began)
	}
	out := &p.Tried.CallAnswer
	if out.Fitted != nil {
		p.Tried.Got = codeUpTo(text(v.lang, "try.fitted"), out.Fitted.Arguments, maxTried)
	}
	if err != nil {
		p.Tried.Fault = fault.As(err)
		p.mark(v.lang)
		return err
	}
	p.Tried.Result = codeUpTo(text(v.lang, "try.result"), out.Result, maxTried)
	p.Tried.Result.Wrap = true // what a tool says is often one text
	p.Tried.Tokens = project.Tokens(out.Result)
	p.Tried.Error = toolError(out.Result)
	if out.Fitted != nil {
		args = out.Fitted.Arguments
	}
	if p.App.Src != "" {
		p.App.shows(args, c.inFull(v, *out))
	}
	return nil
}

// mark puts what is wrong with the arguments to their fields.
func (p *toolPage) mark(lang locale.Language) {
	var why struct {
		Problems []fit.Problem `json:"problems"`
	}
	if p.Tried.Fault.Code != fault.BadArguments || json.Unmarshal(p.Tried.Fault.Details, &why) != nil {
		return
	}
	for _, one := range why.Problems {
		p.Form.Mark(one.Field, wrong(lang, one))
	}
}

// wrong is what is wrong with the value of a field.
func wrong(lang locale.Language, p fit.Problem) string {
	expected := lang.Translate(p.Expected)
	said := ""
	switch {
	case p.Code == fit.Missing:
		said = text(lang, "form.wrong.missing", expected)
	case p.Got == "":
		said = text(lang, "form.wrong.other", expected)
	default:
		said = text(lang, "form.wrong.got", expected, lang.Translate(p.Got))
	}
	if p.Hint != "" {
		said += " – " + say(lang, p.Hint)
	}
	return said
}

// inFull is the result of a call without the cuts that were made for a model.
func (c *Console) inFull(v *visit, out restapi.CallAnswer) json.RawMessage {
	if out.Ref == "" {
		return out.Result
	}
	full, err := c.Results.StoredResult(v.Context(), v.who, out.Ref)
	if err != nil {
		return out.Result
	}
	return full.Result
}

// toolError tells whether a result is marked as an error.
func toolError(result json.RawMessage) bool {
	var r struct {
		IsError bool `json:"isError"`
	}
	return json.Unmarshal(result, &r) == nil && r.IsError
}
