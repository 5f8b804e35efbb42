package rawjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Decode is json.Unmarshal with the errors of InWords.
func Decode(data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return InWords(err)
	}
	return nil
}

// InWords explains an error of encoding/json to a caller who does not know our types.
func InWords(err error) error {
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) {
		wrong := fmt.Errorf("want %s, got %.100s", typeInWords(other.Type), withArticle(other.Value))
		if other.Field != "" {
			wrong = fmt.Errorf("in %s: %w", other.Field, wrong)
		}
		return wrong
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("there is no member %.100s", name)
	}
	var syntax *json.SyntaxError
	wrong := errors.As(err, &syntax)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), wrong && syntax.Error() == "unexpected end of JSON input":
		return errors.New("the JSON ends too early")
	case wrong:
		return fmt.Errorf("it is not JSON: %s at byte %d", unexpected(syntax.Error()), syntax.Offset)
	}
	return errors.New("it is JSON of an unknown form")
}

// unexpected returns the character at which encoding/json stopped.
func unexpected(message string) string {
	_, quoted, _ := strings.Cut(message, "invalid character '")
	char, _, ok := strings.Cut(quoted, "' ")
	if !ok || char[0] >= utf8.RuneSelf { // encoding/json takes the first byte of it for a character
		return "something unexpected"
	}
	return "unexpected '" + char + "'"
}

func typeInWords(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return typeInWords(t.Elem())
	case reflect.Int, reflect.Int64, reflect.Int32:
		return "a whole number in plain digits"
	}
	return "a number"
}

// withArticle returns a kind of JSON value as part of a sentence. For a number encoding/json also
// gives the digits.
func withArticle(value string) string {
	switch kind, digits, _ := strings.Cut(value, " "); {
	case digits != "":
		return digits
	case kind == "bool":
		return "true or false"
	case kind == "array":
		return "a list"
	case kind == "object":
		return "an object"
	default:
		return "a " + kind
	}
}
