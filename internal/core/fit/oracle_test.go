package fit

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// noLoader refuses every document but the one at hand.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) { return nil, errors.New("nothing is fetched: " + url) }

// anyText stands for a pattern that the engine does not know.
type anyText string

func (anyText) MatchString(string) bool { return true }
func (a anyText) String() string        { return string(a) }

// oracle is another validator, which says what is right.
func oracle(raw []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(func(s string) (jsonschema.Regexp, error) {
		re, err := regexp.Compile(s)
		if err != nil {
			return anyText(s), nil
		}
		return re, nil
	})
	for _, name := range []string{ // older drafts assert formats; we never do
		"json-pointer", "relative-json-pointer", "uuid", "duration", "period", "ipv4", "ipv6", "hostname", "email", "date", "time",
		"date-time",
		"uri", "uri-reference", "uriref", "uri-template", "semver", "idn-hostname", "idn-email", "iri", "iri-reference", "regex",
	} {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	if err := c.AddResource("mem:///tool.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("mem:///tool.json")
}

func valid(s *jsonschema.Schema, raw []byte) bool {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	return err == nil && s.Validate(v) == nil
}

// verdict is ours, without the rule that arguments are an object.
func verdict(root *shape, raw []byte) bool {
	t := &tape{}
	if t.read(raw) != nil {
		return false
	}
	fits, _ := check(context.Background(), []*shape{root}, t, false)
	return fits
}

func TestTheVerdictIsThatOfTheStandardSuite(t *testing.T) {
	tests := 0
	elsewhere := 0
	open := 0
	for file, groups := range corpora.Suite(t) {
		for _, g := range groups {
			root, notes := compile(g.Schema)
			for _, c := range g.Tests {
				tests++
				got := verdict(root, c.Data)
				if len(notes) > 0 { // it refers to a document that is not there
					elsewhere++
					if got && !c.Valid {
						open++
						continue
					}
				}
				if got != c.Valid {
					t.Errorf("%s: %s: %s: fits = %v, notes %v\n%s\n%s", file, g.Description, c.Description, got, notes, g.Schema, c.Data)
				}
			}
		}
	}
	t.Logf("%d tests: all as the suite says, but %d of %d that refer to other documents, which are accepted", tests, open, elsewhere)
}
