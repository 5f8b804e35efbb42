package config

import "strings"

// Search says how the tools of a profile are offered to agents.
type Search struct {
	Mode     string   // off, auto or on: whether agents get a search instead of the list
	Context  int      // tokens of the model's context, by which auto decides; 0: 200,000
	Pinned   []string // globs on canonical names: tools that are listed beside a search
	Prompt   bool     // the tools are offered as an MCP prompt also without a search
	Examples bool     // prompts show arguments of the caller's own earlier calls
}

func (s *Search) fields() []field {
	return []field{
		{"search", oneOf(&s.Mode, "off", "auto", "on")},
		{"context", countInto(&s.Context, 1000, 100_000_000)},
		{"pinned", listInto(&s.Pinned, checkGlob)},
		{"prompt", boolInto(&s.Prompt)},
		{"examples", boolInto(&s.Examples)},
	}
}

// Embeddings names a model of meaning that a search asks beside the words. It is an
// endpoint of the kind that OpenAI has.
type Embeddings struct {
	URL   string // such as http://127.0.0.1:8000/v1; "": none is asked
	Model string
	Key   string // "": none is sent
}

func (e *Embeddings) read(d *decoder, at place, n *node) {
	if d.complete(at, n, e.fields()) && (e.URL == "") != (e.Model == "") {
		d.fail(at, "needs url and model")
	}
	d.secret(e.Key)
	d.secretsIn(e.URL)
}

func (e *Embeddings) fields() []field {
	return []field{
		{"url", textInto(&e.URL, urlLike("https://example.com/v1"))},
		{"model", textInto(&e.Model, checkFilled)},
		{"key", textInto(&e.Key, nil)},
	}
}

// readDescriptions takes a description for each language.
func (o *Override) readDescriptions(d *decoder, at place, n *node) {
	mapInto(&o.Descriptions, nil, nil, nil)(d, at, n)
	for language := range o.Descriptions {
		if !isLanguage(language) {
			d.fail(at, "%q is not a language; write a tag such as zh-Hans or en", language)
		}
	}
}

// isLanguage tells whether text has the form of a language tag.
func isLanguage(text string) bool {
	for part := range strings.SplitSeq(text, "-") {
		if part == "" || len(part) > 8 || strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
			return false
		}
	}
	return true
}
