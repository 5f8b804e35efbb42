package env

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// object is a JSON object with ordered members.
type object []member

type member struct {
	name  string
	value any
}

// append avoids encoding/json: an environment may build its tools on every request.
func (o object) append(b []byte) []byte {
	b = append(b, '{')
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendValue(append(rawjson.AppendString(b, m.name), ':'), m.value)
	}
	return append(b, '}')
}

func appendValue(b []byte, value any) []byte {
	switch v := value.(type) {
	case object:
		return v.append(b)
	case string:
		return rawjson.AppendString(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case bool:
		return strconv.AppendBool(b, v)
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, item)
		}
		return append(b, ']')
	}
	panic(fmt.Sprintf("env: a schema with %T in it", value)) // schemas are made here alone
}

func typed(name string, more ...member) object {
	return append(object{{"type", name}}, more...)
}

// schemaOf is the schema of a Go type as encoding/json reads it. Around are the enclosing types.
func schemaOf(t reflect.Type, around []reflect.Type) (object, error) {
	if slices.Contains(around, t) {
		return nil, fmt.Errorf("%s holds itself", t)
	}
	around = append(slices.Clip(around), t)
	if own, found := schemaOfReader(t); found {
		return own, nil
	}
	switch t.Kind() {
	case reflect.String:
		return typed("string"), nil
	case reflect.Bool:
		return typed("boolean"), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return typed("integer"), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return typed("integer", member{"minimum", int64(0)}), nil
	case reflect.Float32, reflect.Float64:
		return typed("number"), nil
	case reflect.Pointer:
		return schemaOf(t.Elem(), around)
	case reflect.Slice, reflect.Array:
		return listSchema(t, around)
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			break
		}
		values, err := schemaOf(t.Elem(), around)
		return typed("object", member{"additionalProperties", values}), err
	case reflect.Struct:
		return structSchema(t, around)
	}
	return nil, fmt.Errorf("%s has no schema", t)
}

// schemaOfReader is the schema of a type that decodes itself.
func schemaOfReader(t reflect.Type) (object, bool) {
	reader := reflect.PointerTo(t)
	switch {
	case t == reflect.TypeFor[time.Time]():
		return typed("string", member{"format", "date-time"}), true
	case t.Kind() == reflect.Interface && t.NumMethod() == 0, reader.Implements(reflect.TypeFor[json.Unmarshaler]()):
		return object{}, true
	case reader.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return typed("string"), true
	}
	return nil, false
}

func listSchema(t reflect.Type, around []reflect.Type) (object, error) {
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
		return typed("string", member{"contentEncoding", "base64"}), nil
	}
	items, err := schemaOf(t.Elem(), around)
	if err != nil {
		return nil, err
	}
	list := typed("array", member{"items", items})
	if t.Kind() == reflect.Array {
		list = append(list, member{"minItems", int64(t.Len())}, member{"maxItems", int64(t.Len())})
	}
	return list, nil
}

func structSchema(t reflect.Type, around []reflect.Type) (object, error) {
	fields, err := fieldsOf(t, around)
	if err != nil {
		return nil, err
	}
	properties := object{}
	required := []any{}
	for _, f := range fields {
		if slices.ContainsFunc(properties, func(m member) bool { return m.name == f.name }) {
			return nil, fmt.Errorf("%s has the field %s twice", t, f.name)
		}
		properties = append(properties, member{f.name, f.schema})
		if f.required {
			required = append(required, f.name)
		}
	}
	schema := typed("object", member{"properties", properties}, member{"additionalProperties", false})
	if len(required) > 0 {
		schema = append(schema, member{"required", required})
	}
	return schema, nil
}

type field struct {
	name     string
	schema   object
	required bool
}

// fieldsOf returns the fields of a struct, with those of embedded structs that are not hidden.
func fieldsOf(t reflect.Type, around []reflect.Type) (all []field, err error) {
	var inner []int // embedded, and so far without their fields
	own := map[string]bool{}
	groups := make([][]field, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name, flags, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Tag.Get("json") == "-":
		case f.Anonymous && name == "" && elem(f.Type).Kind() == reflect.Struct:
			inner = append(inner, i)
		case f.IsExported():
			if name == "" {
				name = f.Name
			}
			schema, err := fieldSchema(f, flags, around)
			if err != nil {
				return nil, fmt.Errorf("field %s: %w", f.Name, err)
			}
			own[name] = true
			groups[i] = []field{{name, schema, f.Type.Kind() != reflect.Pointer && !strings.Contains(flags, "omit")}}
		}
	}
	for _, i := range inner {
		e := elem(t.Field(i).Type)
		if slices.Contains(around, e) {
			return nil, fmt.Errorf("%s holds itself", e)
		}
		fields, err := fieldsOf(e, append(slices.Clip(around), e))
		if err != nil {
			return nil, err
		}
		groups[i] = slices.DeleteFunc(fields, func(f field) bool { return own[f.name] })
	}
	return slices.Concat(groups...), nil
}

func elem(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// fieldSchema is the schema of a field with its tags.
func fieldSchema(f reflect.StructField, flags string, around []reflect.Type) (object, error) {
	schema, err := schemaOf(f.Type, around)
	if err != nil {
		return nil, err
	}
	if slices.Contains(strings.Split(flags, ","), "string") && len(schema) > 0 && schema[0].value != "string" {
		schema = typed("string") // a number or a boolean that stands between quotes
	}
	if enum := f.Tag.Get("enum"); enum != "" {
		schema, err = withEnum(schema, strings.Split(enum, ","))
		if err != nil {
			return nil, err
		}
	}
	if doc := f.Tag.Get("doc"); doc != "" {
		schema = append(schema, member{"description", doc})
	}
	return schema, nil
}

// withEnum adds the allowed values, to the items of a list.
func withEnum(schema object, words []string) (object, error) {
	kind := any(nil)
	if len(schema) > 0 {
		kind = schema[0].value
	}
	values := make([]any, len(words))
	for i, word := range words {
		values[i] = word
		if kind == "integer" {
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("enum: %q is not a whole number", word)
			}
			values[i] = n
		}
	}
	switch kind {
	case "string", "integer":
		return append(schema, member{"enum", values}), nil
	case "array":
		items, err := withEnum(schema[1].value.(object), words)
		if err != nil {
			return nil, err
		}
		return append(object{schema[0], {"items", items}}, schema[2:]...), nil
	}
	return nil, errors.New("enum: only texts and whole numbers can have one, or lists of them")
}
