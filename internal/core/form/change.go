package form

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// Change returns the inputs after a button of the form was pressed, by the value of the button: json or form for all arguments,
// or one of add, remove, up, down, json and form with the path of a field or row. Others change nothing.
func (s *Schema) Change(posted url.Values, button string) url.Values {
	what, path, _ := strings.Cut(button, " ")
	list, row := "", path
	if at := strings.LastIndexByte(path, '/'); at >= 0 {
		list, row = path[:at], path[at+1:]
	}
	v := url.Values{}
	for key, values := range posted {
		v[key] = slices.Clone(values)
	}
	rows := v[inRow+list]
	at := slices.Index(rows, row)
	switch {
	case button == "json":
		f := s.Form(posted)
		v = url.Values{As: {AsJSON}, Whole: {f.JSON}}
		if !f.Whole {
			v.Set(Whole, pretty(f.Arguments()))
		}
	case button == "form":
		if args := []byte(strings.TrimSpace(v.Get(Whole))); len(args) == 0 {
			v = url.Values{}
		} else {
			v = s.Fill(args)
		}
	case what == "add" && len(v[inRow+path]) < maxRows:
		id := 0
		for _, other := range v[inRow+path] {
			if n, err := strconv.Atoi(other); err == nil && n >= id && n < 1<<30 {
				id = n + 1
			}
		}
		v.Add(inRow+path, strconv.Itoa(id))
		v.Set(goOn, path+"/"+strconv.Itoa(id))
	case what == "remove" && at >= 0:
		v[inRow+list] = slices.Delete(rows, at, at+1)
	case what == "up" && at > 0:
		rows[at-1], rows[at] = rows[at], rows[at-1]
	case what == "down" && at >= 0 && at+1 < len(rows):
		rows[at+1], rows[at] = rows[at], rows[at+1]
	case what == "json" || what == "form":
		v.Set(goOn, path)
		s.switchField(v, path, what == "json")
	}
	return v
}

// switchField lets one field be entered as JSON, or again in its own fields if these can express its value.
func (s *Schema) switchField(v url.Values, path string, toJSON bool) {
	f := s.Form(v).find(path)
	if f == nil || f.Raw == toJSON {
		return
	}
	if toJSON {
		f.toJSON()
		v.Set(inRaw+path, "1")
		v.Set(inValue+path, f.Value)
		return
	}
	text := strings.TrimSpace(f.Value)
	if text == "" {
		v.Del(inRaw + path)
		v.Del(inValue + path)
	} else if value, err := jsonschema.Parse([]byte(text)); err == nil {
		b := &builder{schema: s, values: v, left: maxFields * maxDepth, steps: maxSteps, refill: f.path, with: value}
		b.top()
	}
}

// find is the field that is entered under a name; nil: there is none.
func (f *Form) find(name string) *Field {
	if f.root == nil || f.Whole {
		return nil
	}
	return f.root.find(name)
}

func (f *Field) find(name string) *Field {
	for _, kid := range f.kids() {
		if kid.Input == name {
			return kid
		}
		if found := kid.find(name); found != nil {
			f.Open = true
			return found
		}
	}
	return nil
}
