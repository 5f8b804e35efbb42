package config

import "regexp"

// Search configures how the tools of a profile are offered to agents.
type Search struct {
	Mode     string   // off, auto or on: whether agents get a search instead of the list
	Context  int      // size of the model's context in tokens, for auto; 0: 200,000
	Pinned   []string // globs on canonical names: tools that are always listed
	Prompt   bool     // the tools are offered as an MCP prompt even without a search
	Examples bool     // prompts show arguments of the caller's earlier calls
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

// Embeddings is an OpenAI-compatible embeddings endpoint for searches by meaning.
type Embeddings struct {
	URL   string // such as http://127.0.0.1:8000/v1; "": none
	Model string
	Key   string // "": none
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

// readDescriptions reads a description for each language.
func (o *Override) readDescriptions(d *decoder, at place, n *node) {
	mapInto(&o.Descriptions, nil, nil, nil)(d, at, n)
	for language := range o.Descriptions {
		if !languageTag.MatchString(language) {
			d.fail(at, "%q is not a language; write a tag such as zh-Hans or en", language)
		}
	}
}

// languageTag has the form of a language tag.
var languageTag = regexp.MustCompile(`^[A-Za-z0-9]{1,8}(-[A-Za-z0-9]{1,8})*$`)
