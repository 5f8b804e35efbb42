package console

import (
	"context"
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

// Prompts writes the tools of a profile as text for a model's prompt.
type Prompts interface {
	WritePrompt(ctx context.Context, who access.Principal, in restapi.PromptQuery) (restapi.Prompt, error)
}

func (c *Console) promptSection() section {
	return section{name: "prompt", path: "/prompt", key: "p", routes: map[string]handler{
		"GET /prompt":      page("prompt", whole, c.readPrompt),
		"GET /prompt/text": page("prompt", "text", c.writePrompt),
		"GET /prompt/file": c.promptFile,
	}}
}

// promptPage is the prompt of an agent and the options that it was written with.
type promptPage struct {
	Wishes   promptWishes
	Profiles []string
	Formats  []string
	Dialects []string
	Text     promptText
}

type promptWishes struct{ Profile, Format, Budget, Dialect, Language, Groups string }

type promptText struct {
	restapi.Prompt
	Block block
	Saved string // compared with the MCP tool list; "": nothing
	File  string // path of the complete text
	Fault *fault.Error
}

func wishesOf(v *visit) promptWishes {
	q := v.URL.Query()
	w := promptWishes{q.Get("profile"), q.Get("format"), strings.TrimSpace(q.Get("budget")), q.Get("dialect"), q.Get("language"),
		q.Get("groups")}
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
		q.Budget, err = strconv.Atoi(w.Budget)
		if err != nil {
			return q, fault.New(fault.BadRequest, "budget must be a number of tokens")
		}
	}
	return q, nil
}

func (c *Console) readPrompt(v *visit) (promptPage, error) {
	prompt, err := c.writePrompt(v)
	p := promptPage{Wishes: wishesOf(v), Formats: []string{"ts", "md", "sig", "json"}, Text: prompt}
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
	return p, err
}

func (c *Console) writePrompt(v *visit) (t promptText, _ error) {
	p, err := c.promptOf(v)
	if err != nil {
		t.Fault = fault.As(err)
		if t.Fault.Hides() {
			c.Logger.Error("prompt not written", "error", t.Fault)
		}
		return t, nil
	}
	t.Prompt = p
	t.File = c.at("/prompt/file?" + v.URL.RawQuery)
	label := text(v.lang, "prompt.text")
	if p.Format == prompt.JSON {
		t.Block = code(label, []byte(p.Text))
	} else {
		t.Block = prose(label, p.Text)
	}
	if p.Tokens < p.List {
		t.Saved = share(ratio(int64(p.List-p.Tokens), int64(p.List)))
	}
	return t, nil
}

func (c *Console) promptOf(v *visit) (restapi.Prompt, error) {
	q, err := wishesOf(v).query()
	if err != nil {
		return restapi.Prompt{}, err
	}
	return c.Prompts.WritePrompt(v.Context(), v.who, q)
}

func (c *Console) promptFile(v *visit) (answer, error) {
	p, err := c.promptOf(v)
	if err != nil {
		return answer{}, err
	}
	name := "tools." + map[prompt.Format]string{prompt.TypeScript: "d.ts", prompt.Markdown: "md", prompt.Signature: "txt",
		prompt.JSON: "json"}[p.Format]
	return download("text/plain; charset=utf-8", name, []byte(p.Text))
}
