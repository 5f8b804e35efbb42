package serverjson

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Answers are values by the names of questions, as the configuration has them: ${VAR} in them is a reference.
type Answers map[string][]string

// Question is a value that only a person can give.
type Question struct {
	Name        string
	Description string
	Format      string // "", number, boolean or filepath
	Choices     []string
	Default     []string
	Min, Max    *float64
	Required    bool
	Secret      bool
	Many        bool // several values make sense
}

// Plan is a server that can be added once its questions are answered.
type Plan struct {
	Name        string
	Version     string
	Description string
	Notes       []string
	Risky       bool     // strangers chose options of the program that runs the package, such as docker
	Bundle      *Package // this .mcpb must be unpacked first; it has a plan of its own

	// Build makes the server; every value of strangers goes through the Filler.
	Build func(*Filler) config.Server
}

// Fill makes the server from the answers. Open are the required questions without one; the server is complete if each has a
// default. Names of answers that nobody asked for are an error.
func (p *Plan) Fill(answers Answers) (s config.Server, open []Question, err error) {
	f := &Filler{answers: answers, asked: map[string]bool{}}
	s = p.Build(f)
	var names []string
	for _, q := range f.questions {
		names = append(names, q.Name)
		if q.Required && len(answers[q.Name]) == 0 {
			open = append(open, q)
		}
	}
	for _, given := range slices.Sorted(maps.Keys(answers)) {
		if !f.asked[given] {
			f.fail(fault.New(fault.BadRequest, "%s does not ask for %q", p.Name, given).WithHint("it asks for: %s", strings.Join(names, ", ")))
		}
	}
	return s, open, f.err
}

// Questions are all questions, answered or not.
func (p *Plan) Questions() []Question {
	f := &Filler{asked: map[string]bool{}}
	p.Build(f)
	return f.questions
}

// Filler answers questions while a server is made.
type Filler struct {
	answers   Answers
	asked     map[string]bool
	questions []Question // in the order asked
	err       error      // the first
}

// Piece is a part of a value. What a person gave may refer to variables and files; all else is literal.
type Piece struct {
	Text string
	Own  bool
}

func (f *Filler) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// Ask returns the values for a question: the person's, else the default, else none.
func (f *Filler) Ask(q Question) (values []Piece) {
	given := f.answers[q.Name]
	if !f.asked[q.Name] {
		f.asked[q.Name] = true
		f.questions = append(f.questions, q)
	}
	if len(given) > 1 && !q.Many {
		f.fail(fault.New(fault.BadRequest, "%s takes one value", q.Name))
	}
	for _, value := range given {
		value, err := q.Check(value)
		if err != nil {
			f.fail(err)
		}
		values = append(values, Piece{value, true})
	}
	if len(given) == 0 {
		for _, value := range q.Default {
			values = append(values, Piece{Text: value})
		}
	}
	return values
}

// Check returns a person's answer as it is used. References are not known here, and not checked.
func (q Question) Check(value string) (string, error) {
	if strings.Contains(value, "${") {
		return value, nil
	}
	wrong := func(want string) error {
		return fault.New(fault.BadRequest, "%s: %q is not %s", q.Name, value, want)
	}
	switch {
	case len(q.Choices) > 0 && !slices.Contains(q.Choices, value):
		return "", wrong("one of " + strings.Join(q.Choices, ", "))
	case q.Format == "boolean" && value != "true" && value != "false":
		return "", wrong("true or false")
	case q.Format == "filepath":
		full, err := filepath.Abs(value)
		if err != nil {
			return "", fmt.Errorf("find %s: %w", value, err)
		}
		return full, nil
	case q.Format == "number":
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return "", wrong("a number")
		}
		if q.Min != nil && n < *q.Min || q.Max != nil && n > *q.Max {
			return "", wrong("within the limits")
		}
	}
	return value, nil
}

// maxValue is the longest value that strangers may write into the configuration, and the most pieces of one: a few
// kilobytes can ask for gigabytes.
const maxValue = 4096

// Join returns the pieces as one value of the configuration. No text of strangers becomes a reference in it, whatever
// stands beside it.
func (f *Filler) Join(pieces ...Piece) string {
	var out string
	many := len(pieces) > maxValue
	for len(pieces) > 0 {
		if pieces[0].Own {
			out += pieces[0].Text
			pieces = pieces[1:]
			continue
		}
		var literal string
		for len(pieces) > 0 && !pieces[0].Own && len(literal) <= maxValue {
			literal += pieces[0].Text
			pieces = pieces[1:]
		}
		if many || len(literal) > maxValue || strings.ContainsFunc(literal, unicode.IsControl) {
			f.fail(fault.New(fault.BadConfig, "the value %.40q is longer than %d bytes or has control characters", literal, maxValue))
			return ""
		}
		if len(pieces) > 0 && strings.HasSuffix(literal, "$") || strings.HasSuffix(out, "$") && strings.HasPrefix(literal, "{") {
			f.fail(fault.New(fault.BadConfig, "%.40q has a \"$\" beside a value, which cannot be written", literal))
		}
		out += strings.ReplaceAll(literal, "${", "$${")
	}
	return out
}

var hole = regexp.MustCompile(`\$?\{([^{}]+)\}`)

// expand fills the {variables} in; other braces stay. It is not ok if a variable has no value.
func (f *Filler) expand(template string, variables map[string]Input) (pieces []Piece, ok bool) {
	ok = true
	for at := 0; ; {
		m := hole.FindStringSubmatchIndex(template[at:])
		if m == nil {
			return append(pieces, Piece{Text: template[at:]}), ok
		}
		in, known := variables[template[at+m[2]:at+m[3]]]
		if !known {
			pieces = append(pieces, Piece{Text: template[at : at+m[1]]})
			at += m[1]
			continue
		}
		in.Name = template[at+m[2] : at+m[3]]
		values := f.input(in)
		ok = ok && len(values) > 0
		pieces = append(append(pieces, Piece{Text: template[at : at+m[0]]}), values...)
		at += m[1]
	}
}

// input asks for the value of an input that has no template.
func (f *Filler) input(in Input) []Piece {
	if in.Value != "" {
		return []Piece{{Text: string(in.Value)}}
	}
	q := Question{Name: in.Name, Description: in.Description, Format: in.Format, Choices: in.Choices,
		Required: in.Required, Secret: in.Secret, Many: in.Repeated}
	if in.Default != "" {
		q.Default = []string{string(in.Default)}
	}
	return f.Ask(q)
}

// values are the values of an input; none if it is optional and not given.
func (f *Filler) values(in Input) (values []string) {
	if in.Value != "" {
		if pieces, ok := f.expand(string(in.Value), in.Variables); ok {
			values = append(values, f.Join(pieces...))
		}
		return values
	}
	for _, one := range f.input(in) {
		values = append(values, f.Join(one))
	}
	return values
}

// pairs are the values of variables or headers.
func (f *Filler) pairs(inputs []Input) map[string]string {
	all := map[string]string{}
	for _, in := range inputs {
		for _, value := range f.values(in) {
			all[in.Name] = value
		}
	}
	return all
}

// arguments are the words of arguments. A named one is two words, as other clients write it.
func (f *Filler) arguments(inputs []Input) (words []string) {
	for i, in := range inputs {
		flag := in.Name
		in.Name = cmp.Or(in.Hint, fmt.Sprintf("argument%d", i+1))
		if in.Type == "named" {
			in.Name = strings.TrimLeft(flag, "-")
			flag = f.Join(Piece{Text: flag})
		}
		bare := in.Value == "" && in.Default == "" && in.Description == "" && !in.Required && len(in.Choices) == 0
		switch values := f.values(in); {
		case in.Type != "named":
			words = append(words, values...)
		case bare && len(values) == 0:
			words = append(words, flag)
		case in.Format == "boolean" && len(values) > 0:
			if values[0] != "false" {
				words = append(words, flag)
			}
		default:
			for _, value := range values {
				words = append(words, flag, value)
			}
		}
	}
	return words
}
