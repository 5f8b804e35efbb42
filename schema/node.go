package schema

import "github.com/toolfit/toolfit/internal/core/jsonschema"

type (
	node = jsonschema.Node
	tree = jsonschema.Tree
)
