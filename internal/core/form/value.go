package form

import (
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n") // browsers post CR LF

// value is what was entered, as JSON; nil: nothing. given tells whether somebody entered it: anything else is sent only where
// it is required beside what was.
func (f *Field) value(pointer string) (raw []byte, given bool) {
	f.pointer = pointer
	if f.Null {
		return []byte("null"), true
	}
	switch f.Kind {
	case Text, Long:
		text := lineEnds.Replace(f.Value)
		switch {
		case text == "" && !f.accepted:
			return nil, false
		case f.Zoned && text != "":
			text = f.stamp()
		}
		return rawjson.AppendString(nil, text), true
	case Number:
		text := strings.TrimSpace(f.Value)
		if text == "" {
			return nil, false
		}
		if strings.ContainsAny(text[:1], "-0123456789") && rawjson.Check([]byte(text)) == nil {
			return []byte(text), true
		}
		return rawjson.AppendString(nil, f.Value), true
	case Choice:
		if f.Value == "" {
			return nil, false
		}
		return []byte(f.Value), true
	case Fixed:
		if f.Required || f.Choices[0].On {
			return f.only, !f.Required
		}
		return nil, false
	case Many:
		return f.chosen()
	case Object:
		return f.object(pointer)
	case List:
		return f.list(pointer)
	case Map:
		return f.named(pointer)
	case Variant:
		if len(f.Fields) == 0 {
			return nil, false
		}
		raw, _ := f.Fields[0].value(pointer)
		return raw, raw != nil
	}
	text := strings.TrimSpace(f.Value)
	switch {
	case text == "":
		return nil, false
	case rawjson.Check([]byte(text)) == nil:
		return []byte(text), true
	}
	return rawjson.AppendString(nil, f.Value), true
}

func (f *Field) chosen() (raw []byte, given bool) {
	raw = []byte{'['}
	for _, o := range f.Choices {
		if o.On {
			raw = append(comma(raw), o.Value...)
			given = true
		}
	}
	return append(raw, ']'), given
}

func (f *Field) object(pointer string) (raw []byte, given bool) {
	raw = []byte{'{'}
	for _, kid := range f.Fields {
		value, typed := kid.value(pointer + "/" + jsonschema.EscapeToken(kid.Name))
		given = given || typed
		if typed || kid.Required && value != nil {
			raw = append(rawjson.AppendString(comma(raw), kid.Name), ':')
			raw = append(raw, value...)
		}
	}
	if f.Extra != nil {
		more, typed := f.Extra.named(pointer, f.Fields...)
		f.Extra.pointer = pointer + "/" + rest // nothing is there: what is wrong with a value is shown at its row
		given = given || typed
		if len(more) > len("{}") {
			raw = append(comma(raw), more[1:len(more)-1]...)
		}
	}
	return append(raw, '}'), given
}

func (f *Field) list(pointer string) (raw []byte, given bool) {
	raw = []byte{'['}
	at := 0
	for _, row := range f.Fields {
		value, typed := row.value(pointer + "/" + strconv.Itoa(at))
		row.absent = !typed
		if typed {
			raw = append(comma(raw), value...)
			given = true
			at++
		}
	}
	return append(raw, ']'), given
}

// named is the rows of a map. Of two with one name the last counts, and none replaces a member that has its own field.
func (f *Field) named(pointer string, members ...*Field) (raw []byte, given bool) {
	f.pointer = pointer
	last := map[string]int{}
	for i, row := range f.Fields {
		last[row.Key] = i
	}
	for _, m := range members {
		last[m.Name] = -1
	}
	raw = []byte{'{'}
	for i, row := range f.Fields {
		value, typed := row.value(pointer + "/" + jsonschema.EscapeToken(row.Key))
		row.absent = !typed || last[row.Key] != i
		if !row.absent {
			raw = append(rawjson.AppendString(comma(raw), row.Key), ':')
			raw = append(raw, value...)
			given = true
		}
	}
	return append(raw, '}'), given
}

func comma(raw []byte) []byte {
	if len(raw) > 1 {
		return append(raw, ',')
	}
	return raw
}
