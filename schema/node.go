package schema

import "github.com/toolfit/toolfit/internal/jsonschema"

type (
	node = jsonschema.Node
	tree = jsonschema.Tree
)
