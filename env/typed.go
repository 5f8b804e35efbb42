package env

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// NewTool makes a tool whose arguments are a struct: the schema is that of the struct. A
// field is required unless it is a pointer or has omitempty or omitzero; the tag doc says
// what it is for, the tag enum which values a text may have ("a,b,c"). What In cannot be,
// such as a type that holds itself, is a mistake in the program and panics.
func NewTool[In any](name, description string, call func(ctx context.Context, in In) (any, error)) Tool {
	input, err := schemaOf(reflect.TypeFor[In](), nil)
	if err == nil && input["type"] != "object" {
		err = fmt.Errorf("%s is no struct", reflect.TypeFor[In]())
	}
	var raw json.RawMessage
	if err == nil {
		raw, err = encode(input)
	}
	if err != nil {
		panic(fmt.Sprintf("env: tool %s: %v", name, err))
	}
	return Tool{Name: name, Description: description, InputSchema: raw, Call: func(ctx context.Context, args json.RawMessage) (any, error) {
		var in In
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, fmt.Errorf("read the arguments: %w", err)
		}
		return call(ctx, in)
	}}
}

// schemaOf is the schema of a Go type as encoding/json writes it. Around are the types that
// it stands in.
func schemaOf(t reflect.Type, around []reflect.Type) (map[string]any, error) {
	for _, outer := range around {
		if outer == t && t.Kind() == reflect.Struct {
			return nil, fmt.Errorf("%s holds itself", t)
		}
	}
	around = append(around[:len(around):len(around)], t)
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}, nil
	case t == reflect.TypeFor[json.RawMessage]() || t.Kind() == reflect.Interface && t.NumMethod() == 0:
		return map[string]any{}, nil
	}
	switch t.Kind() {
	case reflect.String:
		return map[string]any{"type": "string"}, nil
	case reflect.Bool:
		return map[string]any{"type": "boolean"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return map[string]any{"type": "integer"}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}, nil
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}, nil
	case reflect.Pointer:
		return schemaOf(t.Elem(), around)
	case reflect.Slice:
		items, err := schemaOf(t.Elem(), around)
		return map[string]any{"type": "array", "items": items}, err
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			break
		}
		values, err := schemaOf(t.Elem(), around)
		return map[string]any{"type": "object", "additionalProperties": values}, err
	case reflect.Struct:
		return structSchema(t, around)
	}
	return nil, fmt.Errorf("%s has no schema", t)
}

func structSchema(t reflect.Type, around []reflect.Type) (map[string]any, error) {
	properties, required := map[string]any{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, flags, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" {
			continue // the fields of an embedded struct are visible by themselves
		}
		if name == "" {
			name = f.Name
		}
		schema, err := schemaOf(f.Type, around)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		if doc := f.Tag.Get("doc"); doc != "" {
			schema["description"] = doc
		}
		if enum := f.Tag.Get("enum"); enum != "" {
			schema["enum"] = strings.Split(enum, ",")
		}
		properties[name] = schema
		if f.Type.Kind() != reflect.Pointer && !strings.Contains(flags, "omit") {
			required = append(required, name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema, nil
}
