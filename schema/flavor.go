package schema

import (
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// Flavor is the kind of document a schema comes from.
type Flavor string

// The flavors. Auto follows $schema and defaults to 2020-12.
const (
	Auto      Flavor = ""
	Draft2020 Flavor = "2020-12"
	Draft07   Flavor = "draft-07" // and older
	OpenAPI30 Flavor = "openapi-3.0"
	OpenAPI31 Flavor = "openapi-3.1"
)

func flavorOf(root *node, want Flavor) Flavor {
	if want != Auto {
		return want
	}
	s := root.Str("$schema")
	for _, old := range []string{"draft-07", "draft-06", "draft-04", "draft-03"} {
		if strings.Contains(s, old) {
			return Draft07
		}
	}
	return Draft2020
}

// draft returns the JSON Schema version that the document is read as.
func (f Flavor) draft(root *node) jsonschema.Draft {
	if d := jsonschema.DraftOf(root); d.RefAlone() || !f.refAlone() {
		return d
	}
	return jsonschema.Draft7
}

// refAlone reports whether keywords beside a reference are ignored.
func (f Flavor) refAlone() bool { return f == Draft07 || f == OpenAPI30 }

// request reports whether the document describes requests and responses alike, so that
// read-only properties are not arguments.
func (f Flavor) request() bool { return f == OpenAPI30 || f == OpenAPI31 }
