package schema

import (
	"bytes"
	"errors"
	"regexp"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// noLoader refuses every document but the one at hand.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) { return nil, errors.New("nothing is fetched: " + url) }

// anyText stands for a pattern that the engine does not know.
type anyText struct{ s string }

func (a anyText) MatchString(string) bool { return true }
func (a anyText) String() string          { return a.s }

func compile(raw []byte) (*jsonschema.Schema, error) { return compileFor(raw, false) }

func compileFor(raw []byte, formats bool) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if formats {
		c.AssertFormat()
	}
	c.UseRegexpEngine(func(s string) (jsonschema.Regexp, error) {
		re, err := regexp.Compile(s)
		if err != nil {
			return anyText{s}, nil
		}
		return re, nil
	})
	if err := c.AddResource("mem:///tool.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("mem:///tool.json")
}
