package env

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// NewTool makes a tool whose arguments are a struct: the schema is that of the struct as
// encoding/json reads it, with its fields in their order. A field is required unless it is a
// pointer or has omitempty or omitzero; the tag doc says what it is for, the tag enum which
// values a text or a whole number may have ("a,b,c"), or each one of a list. A type that
// reads itself is text when it has UnmarshalText, and anything when it has UnmarshalJSON. What
// In cannot be, such as a type that holds itself, is a mistake in the program and panics.
func NewTool[In any](name, description string, call func(ctx context.Context, in In) (any, error)) Tool {
	input, err := argumentsOf(reflect.TypeFor[In]())
	if err != nil {
		panic(fmt.Sprintf("env: tool %s: %v", name, err))
	}
	return Tool{Name: name, Description: description, InputSchema: input, Call: func(ctx context.Context, args json.RawMessage) (any, error) {
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

// argumentsOf is the schema of a type that arguments are read into.
func argumentsOf(t reflect.Type) (json.RawMessage, error) {
	schema, err := schemaOf(t, nil)
	if err != nil {
		return nil, err
	}
	if len(schema) == 0 || schema[0].value != "object" {
		return nil, fmt.Errorf("%s is no struct", t)
	}
	return schema.append(nil), nil
}
