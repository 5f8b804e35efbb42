package schema

import (
	"errors"
	"net/url"
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	broken "github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// told reports whether the report names every rule that was broken: a rule that the dialect
// cannot say is put into words, which a generator does not read and a model does.
func told(err error, report []Change) bool {
	var bad *jsonschema.ValidationError
	if !errors.As(err, &bad) {
		return false
	}
	at := map[string]bool{}
	for _, c := range report {
		if c.Kind == Discriminated { // which is no word of JSON Schema: the original cannot tell the branches apart
			at[anyPlace(strings.TrimSuffix(c.Pointer, "discriminator")+"oneOf")] = true
		}
		if strings.HasSuffix(c.Action, "is required and not allowed") {
			at[anyPlace(c.Pointer+"/required")] = true
		}
		if c.Kind == BadKeyword { // a repaired mistake, such as an enum beside an array that means its items
			at[anyPlace(c.Pointer)] = true
		}
		if c.Kind == Constraint || c.Kind == RootChanged || c.Kind == Conflict || c.Kind == TooMuch || c.Kind == Cut {
			at[anyPlace(c.Pointer)] = true
		}
	}
	return isTold(bad, at)
}

func isTold(e *jsonschema.ValidationError, at map[string]bool) bool {
	_, fragment, _ := strings.Cut(e.SchemaURL, "#")
	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	switch e.ErrorKind.(type) {
	case *broken.Schema, *broken.Group, *broken.Reference, *broken.AllOf, *broken.AdditionalProperties:
	default:
		if path := e.ErrorKind.KeywordPath(); len(path) > 0 && at[anyPlace(fragment+"/"+path[0])] {
			return true
		}
	}
	all := len(e.Causes) > 0
	some := false
	for _, c := range e.Causes {
		ok := isTold(c, at)
		all = all && ok
		some = some || ok
	}
	switch e.ErrorKind.(type) {
	case *broken.AnyOf, *broken.OneOf:
		return some
	}
	return all
}

// anyPlace forgets the places in lists: equal members are written, and reported, once.
func anyPlace(pointer string) string { return numbers.ReplaceAllString(pointer, "/0") }

var numbers = regexp.MustCompile(`/[0-9]+\b`)
