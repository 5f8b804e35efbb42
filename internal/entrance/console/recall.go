package console

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/shell"
	"github.com/toolfit/toolfit/internal/core/form"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Paths at which the gateway serves recalled tools.
const (
	recallPath = "/api/agent-retrieval/in/v1/"
	proxyPath  = recallPath + "mcp/proxy/"
	toolsPath  = "/api/v1/tools/"
)

func (c *Console) recallSection() section {
	return section{name: "recall", path: "/recall", key: "a", may: access.Principal.MayCall, routes: map[string]handler{
		"GET /recall":       page("recall", whole, func(v *visit) (recallPage, error) { return c.recallOf(v, v.URL.Query()), nil }),
		"POST /recall/call": c.callRecalled,
	}}
}

type recallPage struct {
	Configured bool
	Actions    []recallChoice
	Asks       bool // other actions can be looked up
	Network    string
	Action     string
	Instances  string
	Forms      []recallForm // the answer in each form
	Curl       string
	Form       *form.Form // of the call
	Target     string     // path where the gateway serves the tool; "": elsewhere
	Elsewhere  string     // the tool's address, if it is not the gateway's
	Called     *recallCalled
}

type recallChoice struct {
	config.RecallAction
	Does string // its tool
	Link string
	Here bool
}

type recallForm struct {
	Name   string // a key: console.recall.form.NAME
	Answer block
	Tool   dynamicTool
	Fault  string
}

// dynamicTool is the part of an answer that the page needs.
type dynamicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	URL         string          `json:"api_url"`
	Fixed       json.RawMessage `json:"fixed_params"`
}

type recallCalled struct {
	Status int
	Sent   block
	Answer block
	Good   bool
}

// recallOf looks an action up as a service would, in each form of the answer.
func (c *Console) recallOf(v *visit, q url.Values) recallPage {
	p := recallPage{Network: strings.TrimSpace(q.Get("kn_id")), Action: strings.TrimSpace(q.Get("at_id")),
		Instances: strings.TrimSpace(q.Get("instances"))}
	service := c.Recall()
	if service == nil {
		return p
	}
	p.Configured = true
	p.Asks = service.Asks()
	for _, a := range service.Actions() {
		link := c.at("/recall?" + url.Values{"kn_id": {a.Network}, "at_id": {a.ActionType}}.Encode())
		does := a.Tool
		if does == "" {
			does = a.Server + " · " + a.ServerTool
		}
		p.Actions = append(p.Actions, recallChoice{a, does, link, a.Network == p.Network && a.ActionType == p.Action})
	}
	if p.Network == "" && p.Action == "" {
		return p
	}
	body := p.request()
	p.Curl = "curl -s " + shell.Quote(c.base(v)+recallPath+"kn/get_action_info") + " -d " + shell.Quote(string(body))
	forms := []string{"proxy"}
	if p.Asks {
		forms = append(forms, "driver")
	}
	for _, name := range forms {
		got := c.ask(v, service.As(name), recallPath+"kn/get_action_info", body)
		p.Forms = append(p.Forms, formOfAnswer(name, text(v.lang, "recall.answer"), got))
	}
	if len(p.Forms) == 2 && p.Forms[0].Answer.HTML == p.Forms[1].Answer.HTML { // actions of the file have only one form
		p.Forms = p.Forms[:1]
	}
	p.readTool(p.Forms[0].Tool, c.BasePath, v.PostForm)
	return p
}

func (p *recallPage) request() []byte {
	body := rawjson.AppendString([]byte(`{"kn_id":`), p.Network)
	body = rawjson.AppendString(append(body, `,"at_id":`...), p.Action)
	if p.Instances != "" {
		body = append(body, `,"_instance_identities":`...)
		if rawjson.Check([]byte(p.Instances)) == nil {
			body = append(body, p.Instances...)
		} else {
			body = rawjson.AppendString(body, p.Instances) // the error will say what is expected
		}
	}
	return append(body, '}')
}

func formOfAnswer(name, label string, got *inbound.Recorder) recallForm {
	f := recallForm{Name: name, Answer: code(label, got.Body.Bytes())}
	var info struct {
		Tools []dynamicTool `json:"_dynamic_tools"`
	}
	if got.Status != http.StatusOK {
		f.Fault = problemOf(got)
	} else if json.Unmarshal(got.Body.Bytes(), &info) == nil && len(info.Tools) > 0 {
		f.Tool = info.Tools[0]
	}
	return f
}

// readTool prepares the form for a call: as it was posted, or else with fixed parameters filled in.
func (p *recallPage) readTool(t dynamicTool, basePath string, posted url.Values) {
	at, err := url.Parse(t.URL)
	if t.URL == "" || err != nil {
		return
	}
	path, ours := strings.CutPrefix(at.EscapedPath(), basePath)
	if !ours || !strings.HasPrefix(path, proxyPath) && !strings.HasPrefix(path, toolsPath) {
		p.Elsewhere = t.URL
		return
	}
	p.Target = path
	if at.RawQuery != "" {
		p.Target += "?" + at.RawQuery
	}
	s := form.Read(t.Parameters)
	if posted == nil {
		posted = s.Fill(withoutEmpty(t.Fixed))
	} else if button := posted.Get(form.Do); button != "" {
		posted = s.Change(posted, button)
	}
	p.Form = s.Form(posted)
}

// withoutEmpty is an object without members that are empty objects: levels without fixed parameters.
func withoutEmpty(fixed json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	for w := rawjson.Object(fixed); w.Next(); {
		if string(w.Value) == "{}" {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(rawjson.AppendString(out, string(w.Key)), ':'), w.Value...)
	}
	return append(out, '}')
}

// callRecalled calls the tool of an action at its api_url, on behalf of the person.
func (c *Console) callRecalled(v *visit) (answer, error) {
	p := c.recallOf(v, v.PostForm)
	if !p.Configured || p.Target == "" {
		return answer{}, fault.New(fault.BadRequest, "there is no action to call")
	}
	if v.PostForm.Has(form.Do) {
		return show("recall", p)
	}
	args := p.Form.Arguments()
	var to http.Handler = c.Recall()
	if strings.HasPrefix(p.Target, toolsPath) {
		to = c.API
	}
	got := c.ask(v, to, p.Target, args)
	p.Called = &recallCalled{
		Status: got.Status, Good: got.Status == http.StatusOK,
		Sent: code(text(v.lang, "recall.sent"), args), Answer: code(text(v.lang, "recall.answer"), got.Body.Bytes()),
	}
	return show("recall", p)
}

// ask sends a request to a service of the gateway as another program would.
func (c *Console) ask(v *visit, to http.Handler, target string, body []byte) *inbound.Recorder {
	r := v.Request.Clone(v.Context())
	at, err := url.ParseRequestURI(target)
	if err != nil {
		return &inbound.Recorder{Status: http.StatusNotFound}
	}
	r.Method = http.MethodPost
	r.URL = at
	r.RequestURI = target
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Language", string(v.lang))
	r.Header.Set("X-Account-Id", v.who.ID)
	r.Header.Set("X-Account-Type", "user")
	r.Form = nil
	r.PostForm = nil
	got := inbound.NewRecorder()
	to.ServeHTTP(got, r)
	return got
}

func problemOf(r *inbound.Recorder) string {
	for _, key := range []string{"description", "solution"} {
		if s, ok := rawjson.String(rawjson.Get(r.Body.Bytes(), key)); ok {
			return s
		}
	}
	return http.StatusText(r.Status)
}
