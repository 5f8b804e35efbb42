package env

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// NewTool makes a tool whose arguments are a struct. Its schema has the fields as encoding/json
// reads them, in order. A field is required unless it is a pointer or has omitempty or omitzero.
// The tag doc describes it; the tag enum ("a,b,c") lists the values of a string or integer, or of a
// list's items. A type with UnmarshalText is a string, one with UnmarshalJSON anything. NewTool
// panics if In has no schema.
func NewTool[In any](name, description string, call func(ctx context.Context, in In) (any, error)) Tool {
	input, err := argumentsOf(reflect.TypeFor[In]())
	if err != nil {
		panic(fmt.Sprintf("env: tool %s: %v", name, err))
	}
	return Tool{Name: name, Description: description, InputSchema: input,
		Call: func(ctx context.Context, args json.RawMessage) (any, error) {
			var in In
			if rawjson.IsNull(args) {
				args = json.RawMessage("{}")
			}
			if err := decode(args, &in); err != nil {
				return nil, fmt.Errorf("read the arguments: %w", err)
			}
			return call(ctx, in)
		}}
}

func argumentsOf(t reflect.Type) (json.RawMessage, error) {
	schema, err := schemaOf(t, nil)
	if err != nil {
		return nil, err
	}
	if len(schema) == 0 || schema[0].value != "object" {
		return nil, fmt.Errorf("%s is not a struct", t)
	}
	return schema.append(nil), nil
}
