package schema

import (
	"strconv"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

type (
	node  = jsonschema.Node
	tree  = jsonschema.Tree
	types = jsonschema.Types
)

const (
	tString  = jsonschema.TString
	tInteger = jsonschema.TInteger
	tNumber  = jsonschema.TNumber
	tBoolean = jsonschema.TBoolean
	tObject  = jsonschema.TObject
	tArray   = jsonschema.TArray
	tNull    = jsonschema.TNull
)

func itoa(i int) string { return strconv.Itoa(i) }

func quote(s string) string { return strconv.Quote(s) }

func isNote(n *node) bool { return jsonschema.Keywords[n.Key].Note }
