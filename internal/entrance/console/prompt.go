package console

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/core/prompt"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/schema"
)

// Prompts write the tools of a profile as text for a model.
type Prompts interface {
	WritePrompt(ctx context.Context, who access.Principal, in restapi.PromptQuery) (restapi.Prompt, error)
}

func (c *Console) promptSection() section {
	return section{name: "prompt", path: "/prompt", key: "p", routes: map[string]handler{
		"GET /prompt":      c.showPrompt,
		"GET /prompt/text": c.promptText,
		"GET /prompt/file": c.promptFile,
	}}
}

// promptPage is what an agent would see, and the wishes that made it so.
type promptPage struct {
	Wishes   promptWishes
	Profiles []string
	Formats  []string
	Dialects []string
	Text     promptText
}

// promptWishes are the form's fields.
type promptWishes struct{ Profile, Format, Budget, Dialect, Language, Groups string }

// promptText is the text with its numbers.
type promptText struct {
	restapi.Prompt
	Block block
	Saved string // beside the list of MCP; "": nothing
	File  string // where all of it is
	Fault *fault.Error
}

func wishesOf(v *visit) promptWishes {
	q := v.URL.Query()
	w := promptWishes{q.Get("profile"), q.Get("format"), strings.TrimSpace(q.Get("budget")), q.Get("dialect"), q.Get("language"), q.Get("groups")}
	if w.Format == "" {
		w.Format = string(prompt.TypeScript)
	}
	return w
}

func (w promptWishes) query() (q restapi.PromptQuery, err error) {
	q = restapi.PromptQuery{Profile: w.Profile, Variant: call.Variant{
		Format: prompt.Format(w.Format), Dialect: schema.Dialect(w.Dialect), Language: w.Language, Groups: w.Groups != "",
	}}
	if w.Budget != "" {
		if q.Budget, err = strconv.Atoi(w.Budget); err != nil {
			return q, fault.New(fault.BadRequest, "budget must be a number of tokens")
		}
	}
	return q, nil
}

func (c *Console) showPrompt(v *visit) (answer, error) {
	p := promptPage{Wishes: wishesOf(v), Formats: []string{"ts", "md", "sig", "json"}, Text: c.writePrompt(v)}
	if v.who.Profile == access.AnyProfile {
		p.Profiles = c.Profiles()
	}
	for d := range schema.Dialects() {
		p.Dialects = append(p.Dialects, string(d))
	}
	slices.Sort(p.Dialects)
	if p.Wishes.Language == "" && v.lang == locale.Chinese {
		p.Wishes.Language = string(v.lang)
	}
	return show("prompt", p)
}

func (c *Console) promptText(v *visit) (answer, error) {
	return part("prompt", "text", c.writePrompt(v))
}

// writePrompt writes what the wishes ask for. What is wrong with them is shown in its place.
func (c *Console) writePrompt(v *visit) (t promptText) {
	p, err := c.promptOf(v)
	if err != nil {
		t.Fault = fault.As(err)
		if t.Fault.Hides() {
			c.Logger.Error("prompt not written", "error", t.Fault)
		}
		return t
	}
	t.Prompt = p
	t.File = c.at("/prompt/file?" + v.URL.RawQuery)
	label := text(v.lang, "prompt.text")
	if p.Format == prompt.JSON {
		t.Block = beginning(label, []byte(p.Text))
	} else {
		t.Block = prose(label, p.Text)
	}
	if p.Tokens < p.List {
		t.Saved = share(ratio(int64(p.List-p.Tokens), int64(p.List)))
	}
	return t
}

func (c *Console) promptOf(v *visit) (restapi.Prompt, error) {
	q, err := wishesOf(v).query()
	if err != nil {
		return restapi.Prompt{}, err
	}
	return c.Gateway.WritePrompt(v.Context(), v.who, q)
}

// prose makes a block of text that is no JSON.
func prose(label, s string) block {
	b := block{Label: label, Cut: len(s) > maxCode}
	if b.Cut {
		s = strings.ToValidUTF8(s[:maxCode], "")
	}
	b.HTML = template.HTML(template.HTMLEscapeString(plain(s)))
	return b
}

// promptFile is the bare text, all of it.
func (c *Console) promptFile(v *visit) (answer, error) {
	p, err := c.promptOf(v)
	if err != nil {
		return answer{}, err
	}
	name := "tools." + map[prompt.Format]string{prompt.TypeScript: "d.ts", prompt.Markdown: "md", prompt.Signature: "txt", prompt.JSON: "json"}[p.Format]
	return answer{serve: func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/plain; charset=utf-8")
		h.Set("Content-Disposition", "attachment; filename="+url.PathEscape(name))
		h.Set("Cache-Control", "no-store")
		_, _ = w.Write([]byte(p.Text)) // a reader that went away is no fault of ours
	}}, nil
}
