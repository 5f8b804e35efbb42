package toolcall

import (
	"errors"
	"fmt"
	"strings"

	"github.com/toolfit/toolfit/internal/base/loosejson"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Many models were taught to write calls in tags, and fall back into it whatever they are
// told:
//
//	<function=read><parameter=path>a.txt</parameter></function>
//	<invoke name="read"><parameter name="path">a.txt</parameter></invoke>
//	read<arg_key>path</arg_key><arg_value>a.txt</arg_value>
//
// All values are text; which of them are meant as numbers or objects, the tool's schema says.

// heads are the tags that begin and end a call.
var heads = []struct{ opening, closing string }{
	{"<function", "</function>"},
	{"<invoke", "</invoke>"},
}

const (
	parameter    = "<parameter"
	parameterEnd = "</parameter>"
	key          = "<arg_key>"
	keyEnd       = "</arg_key>"
	value        = "<arg_value>"
	valueEnd     = "</arg_value>"
)

// lookHead tells whether a text begins with a tagged call, and what ends it.
func lookHead(text string) (kind, string) {
	for _, h := range heads {
		if strings.HasPrefix(h.opening, text) {
			return mayBecome, ""
		}
		rest, ok := strings.CutPrefix(text, h.opening)
		if !ok {
			continue
		}
		head, inside, ended := strings.Cut(rest, ">")
		if strings.IndexByte("= ", rest[0]) < 0 || strings.ContainsAny(head, "<\n") || ended && nameIn(head) == "" {
			return isText, ""
		}
		inside = strings.TrimLeft(inside, blanks)
		for _, first := range []string{parameter, h.closing, "{"} {
			switch {
			case strings.HasPrefix(inside, first):
				return isBare, h.closing
			case strings.HasPrefix(first, inside):
				return mayBecome, ""
			}
		}
		return isText, ""
	}
	return isText, ""
}

func isTagged(text string) bool {
	if name, _, ok := strings.Cut(text, key); ok && !strings.ContainsAny(name, "<{[\"") {
		return true
	}
	for _, h := range heads {
		if rest, ok := strings.CutPrefix(text, h.opening); ok && (rest == "" || strings.IndexByte("= ", rest[0]) >= 0) {
			return true
		}
	}
	return false
}

// nesting tracks the tags around values, which may contain such tags in pairs.
type nesting struct {
	from    int // where the last "<" stands
	closing string
	depth   int
}

// take takes one more byte, the last of the text.
func (n *nesting) take(text string) {
	switch text[len(text)-1] {
	case '<':
		n.from = len(text) - 1
	case '>':
		tag := text[n.from:]
		n.from = len(text) - 1
		switch ends := endOf(tag); {
		case n.depth == 0 && ends != "":
			n.closing = ends
			n.depth = 1
		case n.depth > 0 && tag == n.closing:
			n.depth--
		case n.depth > 0 && ends == n.closing:
			n.depth++
		}
	}
}

// endOf returns the closing tag of a value's opening tag; "" for other tags.
func endOf(tag string) string {
	rest, ok := strings.CutPrefix(tag, parameter)
	switch {
	case tag == value:
		return valueEnd
	case ok && strings.IndexByte("= ", rest[0]) >= 0:
		return parameterEnd
	}
	return ""
}

// readTagged reads consecutive tagged calls.
func readTagged(text string, how ending) (calls []Call) {
	for text != "" {
		r := taggedReader{rest: text, how: how}
		c, err := r.call()
		if err != nil {
			return append(calls, Call{Err: err, Raw: text})
		}
		c.Raw = strings.TrimSpace(text[:len(text)-len(r.rest)])
		calls = append(calls, c)
		text = strings.TrimLeft(r.rest, blanks)
	}
	return calls
}

type taggedReader struct {
	rest string
	how  ending
	args []byte
	seen map[string]bool // the names of arguments
}

func (r *taggedReader) call() (Call, error) {
	name, closing := r.head()
	if name == "" {
		return Call{}, fmt.Errorf("expected a call, got %.40q", r.rest)
	}
	r.args = []byte{'{'}
	r.seen = map[string]bool{}
	for {
		r.rest = strings.TrimLeft(r.rest, blanks)
		after, ended := strings.CutPrefix(r.rest, closing)
		switch {
		case r.rest == "" && closing != "" && r.how == byLimit:
			return Call{}, errEnds
		case r.rest == "", closing != "" && ended:
			r.rest = after
			return Call{Tool: name, Args: append(r.args, '}')}, nil
		case closing != "" && r.rest[0] == '{' && len(r.args) == 1:
			return r.inJSON(name, closing)
		}
		if err := r.argument(); err != nil {
			return Call{}, err
		}
	}
}

// head reads the tool's name and returns the closing tag; "": the end of the text.
func (r *taggedReader) head() (name, closing string) {
	for _, h := range heads {
		if rest, ok := strings.CutPrefix(r.rest, h.opening); ok {
			head, inside, _ := strings.Cut(rest, ">")
			r.rest = inside
			return nameIn(head), h.closing
		}
	}
	if at := strings.Index(r.rest, key); at >= 0 {
		name = strings.TrimSpace(r.rest[:at])
		r.rest = r.rest[at:]
	}
	return name, ""
}

// nameIn returns the name in a tag: after "=", or as an attribute.
func nameIn(head string) string {
	if name, ok := strings.CutPrefix(head, "="); ok {
		return strings.Trim(name, blanks+`"'`)
	}
	_, name, ok := strings.Cut(head, " name=")
	switch {
	case !ok || name == "":
		return ""
	case name[0] == '"' || name[0] == '\'':
		name, _, _ = strings.Cut(name[1:], name[:1])
		return name
	}
	name, _, _ = strings.Cut(name, " ")
	return name
}

// inJSON reads arguments between the tags as an object.
func (r *taggedReader) inJSON(name, closing string) (Call, error) {
	text, rest, ended := strings.Cut(r.rest, closing)
	args, doubt, err := loosejson.Read(text)
	switch {
	case err != nil:
		return Call{}, err
	case !ended && (r.how == byLimit || r.how == byEnd && doubt == loosejson.InNumber):
		return Call{}, errEnds
	}
	r.rest = rest
	return Call{Tool: name, Args: args}, nil
}

func (r *taggedReader) argument() error {
	var name, closing string
	switch {
	case strings.HasPrefix(r.rest, key):
		text, rest, _ := strings.Cut(r.rest[len(key):], keyEnd)
		name = strings.TrimSpace(text)
		closing = valueEnd
		var ok bool
		r.rest, ok = strings.CutPrefix(strings.TrimLeft(rest, blanks), value)
		if !ok {
			return fmt.Errorf("the parameter %.40q has no value", name)
		}
	case strings.HasPrefix(r.rest, parameter):
		head, inside, _ := strings.Cut(r.rest[len(parameter):], ">")
		name = nameIn(head)
		closing = parameterEnd
		r.rest = inside
	default:
		return fmt.Errorf("expected a parameter, got %.40q", r.rest)
	}
	switch {
	case name == "":
		return errors.New("a parameter has no name")
	case r.seen[name]:
		return fmt.Errorf("the parameter %.40q is given twice", name)
	}
	text, ok := r.upTo(closing)
	if !ok {
		return fmt.Errorf("the parameter %.40q has no end", name)
	}
	r.seen[name] = true
	if len(r.args) > 1 {
		r.args = append(r.args, ',')
	}
	r.args = append(rawjson.AppendString(r.args, name), ':')
	r.args = rawjson.AppendString(r.args, text)
	return nil
}

// upTo reads a value up to its closing tag, without line breaks at both ends.
func (r *taggedReader) upTo(closing string) (string, bool) {
	n := nesting{closing: closing, depth: 1}
	for i := range len(r.rest) {
		n.take(r.rest[:i+1])
		if n.depth > 0 {
			continue
		}
		text := r.rest[:i+1-len(closing)]
		r.rest = r.rest[i+1:]
		if len(text) > 1 && text[0] == '\n' && text[len(text)-1] == '\n' {
			text = text[1 : len(text)-1]
		}
		return text, true
	}
	return "", false
}
