// Package prompt writes a catalog of tools as text for a model: all details, signatures or
// names, as many as a budget of tokens holds. The same tools give the same bytes, in
// whatever order they come, so that a provider's prompt cache can be hit. It never does I/O,
// and it never leaves a reference in the text: what a parameter is stands where it is used.
//
//	page, err := prompt.Render(tools, &prompt.Options{Format: prompt.TypeScript, Budget: 4000, Count: tokens.Estimate})
//	send(page.Text)
//	keep(page.Plan) // and hand it in again, so that the next text begins with the same bytes
package prompt

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolfit/toolfit/schema"
)

// Tool is what is written about one tool.
type Tool struct {
	Name         string // as the model calls it
	Server       string
	Tags         []string
	Description  string
	Descriptions map[string]string // in other languages, by language
	Schema       json.RawMessage   // of the arguments
	Example      json.RawMessage   // arguments of a successful call; may be nil
	Result       json.RawMessage   // schema of the values that it returns; nil: unknown
	Seen         int               // results that Result was inferred from; 0: the server declares it
}

// DescriptionIn returns the description in a language such as zh-CN, or the default one.
func (t *Tool) DescriptionIn(language string) string {
	if text, ok := inLanguage(t.Descriptions, language); ok {
		return text
	}
	return t.Description
}

// Heading is the default heading of the tools in Markdown.
const Heading = "## Available Tools (详细信息)"

// Format is how tools are written.
type Format string

// The formats.
const (
	TypeScript Format = "ts"
	Signature  Format = "sig"  // one line for each tool
	Markdown   Format = "md"   // the layout of agents' system prompts
	JSON       Format = "json" // the format of a provider's request
)

// Options change what is written. The zero value writes everything as TypeScript.
type Options struct {
	Format   Format           // "": TypeScript
	Budget   int              // tokens; 0: no limit
	Count    func([]byte) int // counts tokens; nil: a quarter of the bytes
	Pinned   []string         // tools that get full details first
	Recent   []string         // tools that come next, most recent first
	Previous Plan             // what was sent before; its tools keep their position and detail
	Language string           // language tag of the descriptions, such as zh-CN
	Heading  string           // of Markdown; "": Heading
	Dialect  schema.Dialect   // of JSON; "": OpenAI
	Groups   bool             // a line with server and tag precedes each group of tools
	AsGiven  bool             // keep the order of the tools; otherwise they are sorted by server and name
}

// Page is a written catalog.
type Page struct {
	Text    string
	Plan    Plan
	Refused []Refused // tools that the dialect cannot express
}

// Refused is a tool that was omitted, and why.
type Refused struct {
	Name string
	Err  error
}

// Render writes the tools.
func Render(tools []Tool, opts *Options) (*Page, error) {
	if opts == nil {
		opts = &Options{}
	}
	w := &writer{opts: *opts}
	w.opts.Format = cmp.Or(w.opts.Format, TypeScript)
	w.opts.Heading = cmp.Or(w.opts.Heading, Heading)
	w.opts.Dialect = cmp.Or(w.opts.Dialect, schema.OpenAI)
	if w.opts.Count == nil {
		w.opts.Count = func(text []byte) int { return (len(text) + 3) / 4 }
	}
	switch w.opts.Format {
	case TypeScript, Signature, Markdown, JSON:
	default:
		return nil, fmt.Errorf("render prompt: unknown format %q", opts.Format)
	}
	if _, known := schema.Dialects()[w.opts.Dialect]; !known {
		return nil, fmt.Errorf("render prompt: unknown dialect %q", opts.Dialect)
	}
	w.prepare(tools)
	plan := w.plan()
	return &Page{Text: string(w.write(plan)), Plan: plan, Refused: w.refused}, nil
}

// writer writes one page.
type writer struct {
	opts    Options
	tools   []Tool
	places  map[string]int    // of the tools, by name
	texts   map[Tier][][]byte // of the tools, as far as they were needed
	refused []Refused
	schemas printer
}

// prepare sorts the tools, drops duplicate names and chooses the language.
func (w *writer) prepare(tools []Tool) {
	order := make([]*Tool, len(tools))
	for i := range tools {
		order[i] = &tools[i]
	}
	if !w.opts.AsGiven {
		slices.SortStableFunc(order, w.compare)
	}
	w.tools = make([]Tool, 0, len(tools))
	w.places = make(map[string]int, len(tools))
	for _, t := range order {
		if _, again := w.places[t.Name]; again {
			continue
		}
		w.places[t.Name] = len(w.tools)
		w.tools = append(w.tools, *t)
		w.tools[len(w.tools)-1].Description = t.DescriptionIn(w.opts.Language)
	}
	w.texts = map[Tier][][]byte{}
}

// compare orders tools by server and name, and then by content, so that the order of the input
// does not matter.
func (w *writer) compare(a, b *Tool) int {
	order := cmp.Compare(a.Server, b.Server)
	if order == 0 && w.opts.Groups {
		order = cmp.Compare(category(a), category(b))
	}
	byName := cmp.Or(order, cmp.Compare(a.Name, b.Name))
	if byName != 0 {
		return byName
	}
	return cmp.Or(cmp.Compare(b.Description, a.Description), bytes.Compare(b.Schema, a.Schema))
}

// text returns a tool at one tier.
func (w *writer) text(tool int, tier Tier) []byte {
	texts := w.texts[tier]
	if texts == nil {
		texts = make([][]byte, len(w.tools))
		w.texts[tier] = texts
	}
	if texts[tool] != nil {
		return texts[tool]
	}
	t := &w.tools[tool]
	var out []byte
	switch {
	case tier == Full && w.opts.Format == Markdown:
		out = w.schemas.markdown(t)
	case tier == Full && w.opts.Format == TypeScript:
		out = w.schemas.typeScript(t)
	case tier != None && w.opts.Format == JSON:
		out = w.json(t, tier)
	case tier == Full || tier == Line:
		out = w.schemas.signature(t)
	case tier == Named:
		out = append([]byte(oneLine(t.Name)), ", "...)
	}
	if out == nil {
		out = []byte{} // there is nothing to write
	}
	texts[tool] = out
	return out
}

// write writes the tools of a plan. Neighbors of the same tier form a run, so that a longer
// plan only appends text.
func (w *writer) write(plan Plan) []byte {
	out := make([]byte, 0, w.size(plan))
	switch w.opts.Format {
	case Markdown:
		out = append(out, "\n\n"+w.opts.Heading+"\n\n"...)
	case JSON:
		out = append(out, '[')
	}
	separator := "\n" // of JSON
	last := Tier("")
	group := ""
	for _, p := range plan {
		i, ok := w.places[p.Name]
		if !ok || len(w.text(i, p.Tier)) == 0 {
			continue
		}
		if p.Tier != last {
			out = w.startRun(out, last, p.Tier)
			last = p.Tier
			group = ""
		}
		if g := category(&w.tools[i]); w.opts.Groups && w.opts.Format != JSON && p.Tier != Named && g != group {
			out = append(w.startGroup(out, g), '\n')
			group = g
		}
		if w.opts.Format == JSON {
			out = append(out, separator...)
			separator = ",\n"
		}
		out = append(out, w.text(i, p.Tier)...)
	}
	if w.opts.Format == JSON {
		return append(out, "\n]\n"...)
	}
	return w.startRun(out, last, "")
}

// size estimates the length of a plan's text.
func (w *writer) size(plan Plan) int {
	size := 256
	for _, p := range plan {
		if i, ok := w.places[p.Name]; ok {
			size += len(w.text(i, p.Tier)) + len(",\n")
		}
	}
	return size
}

// startRun ends the previous run and announces the next.
func (w *writer) startRun(out []byte, last, next Tier) []byte {
	switch {
	case last == Named:
		out = append(out[:len(out)-len(", ")], '\n')
	case last == Line && w.opts.Format == Markdown:
		out = append(out, '\n')
	}
	if next == Named {
		out = append(out, w.remark("More tools, by name only: ")...)
	}
	return out
}

// remark is a line between the tools.
func (w *writer) remark(text string) string {
	if w.opts.Format == TypeScript {
		return "// " + text
	}
	return text
}

func (w *writer) startGroup(out []byte, name string) []byte {
	if w.opts.Format == Markdown {
		return append(append(out, "### "...), name+"\n"...)
	}
	return append(append(out, "// "...), name...)
}

// category returns the tool's server and its first tag.
func category(t *Tool) string {
	if len(t.Tags) == 0 {
		return oneLine(t.Server)
	}
	return oneLine(t.Server + ": " + t.Tags[0])
}
