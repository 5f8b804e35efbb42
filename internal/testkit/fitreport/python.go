package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// python is what is known of Python source after reading it: the types that it names, and the functions that it offers as
// tools. It reads declarations only and runs nothing.
type python struct {
	aliases map[string]string
	classes map[string]*class
	tools   map[string]string // name → parameters as they are written
	unknown map[string]bool   // types that nobody declares; they take anything
}

type class struct {
	bases  []string
	fields []string // as they are written: name: type = default
	values []string // of an enumeration
}

var (
	classLine  = regexp.MustCompile(`^class (\w+)(?:\((.*)\))?:$`)
	aliasLine  = regexp.MustCompile(`^(\w+) = ((?:Literal|Annotated|Union|Optional|List|Dict)\[.*\])$`)
	memberLine = regexp.MustCompile(`^\w+ = (".*")$`)
	fieldLine  = regexp.MustCompile(`^\w+ ?:`)
	toolLine   = regexp.MustCompile(`^def (\w+)\((.*)\)(?: ?->.*)?:$`)
)

func newPython() *python {
	return &python{map[string]string{}, map[string]*class{}, map[string]string{}, map[string]bool{}}
}

// read takes in one file.
func (p *python) read(source string) {
	var in *class
	offered := false // the line before says that a tool follows
	for _, s := range statements(source) {
		text := strings.TrimLeft(s, " ")
		switch indent := len(s) - len(text); {
		case indent == 0:
			in = nil
			if m := classLine.FindStringSubmatch(text); m != nil {
				in = &class{bases: split(m[2], ',')}
				p.classes[m[1]] = in
			} else if m := aliasLine.FindStringSubmatch(text); m != nil {
				p.aliases[m[1]] = m[2]
			}
		case strings.HasPrefix(text, "@is_tool(") || strings.HasPrefix(text, "@is_discoverable_tool("):
			offered = true
			continue
		case in == nil || indent != 4 || strings.HasPrefix(text, "@"):
			continue
		case offered:
			if m := toolLine.FindStringSubmatch(text); m != nil && p.tools[m[1]] == "" {
				p.tools[m[1]] = m[2]
			}
		case fieldLine.MatchString(text):
			in.fields = append(in.fields, text)
		default:
			if m := memberLine.FindStringSubmatch(text); m != nil {
				in.values = append(in.values, m[1])
			}
		}
		offered = false
	}
}

// tool is the schema of a tool's arguments, as pydantic would write it.
func (p *python) tool(name string) (json.RawMessage, bool) {
	parameters, known := p.tools[name]
	if !known {
		return nil, false
	}
	fields := slices.DeleteFunc(split(parameters, ','), func(f string) bool { return f == "self" || strings.HasPrefix(f, "*") })
	raw, err := json.Marshal(p.object(fields, 0))
	return raw, err == nil
}

func (p *python) object(fields []string, depth int) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range fields {
		name, rest, _ := strings.Cut(f, ":")
		name = strings.TrimSpace(name)
		parts := split(rest, '=')
		if len(parts) == 0 {
			parts = []string{"Any"} // no type is written
		}
		properties[name] = p.schema(parts[0], depth)
		if len(parts) == 1 || mandatory.MatchString(parts[1]) {
			required = append(required, name)
		} else if slices.Contains(required, name) { // a base class has it
			required = slices.DeleteFunc(required, func(r string) bool { return r == name })
		}
	}
	slices.Sort(required)
	return map[string]any{"type": "object", "properties": properties, "required": slices.Compact(required)}
}

// mandatory is a Field without a default.
var mandatory = regexp.MustCompile(`^Field\( ?(?:\.\.\.|\)|(?:description|title|examples|gt|ge|lt|le|pattern)\b)`)

var plainTypes = map[string]string{"str": "string", "int": "integer", "float": "number", "bool": "boolean", "None": "null",
	"date": "string", "datetime": "string", "object": "object", "dict": "object", "Dict": "object", "list": "array", "List": "array"}

// schema is a type as JSON Schema.
func (p *python) schema(expr string, depth int) map[string]any {
	expr = strings.Trim(strings.TrimSpace(expr), `"'`)
	if parts := split(expr, '|'); len(parts) > 1 {
		return p.union(parts, depth)
	}
	name, inner, _ := strings.Cut(expr, "[")
	args := split(strings.TrimSuffix(inner, "]"), ',')
	name = name[strings.LastIndex(name, ".")+1:]
	c := p.classes[name]
	switch {
	case depth > 8 || name == "Any":
		return map[string]any{}
	case name == "Optional":
		return p.union(append(args, "None"), depth)
	case name == "Union":
		return p.union(args, depth)
	case name == "Annotated" && len(args) > 0:
		return p.schema(args[0], depth+1)
	case name == "Literal":
		return listed(args)
	case plainTypes[name] != "":
		s := map[string]any{"type": plainTypes[name]}
		if s["type"] == "array" && len(args) == 1 {
			s["items"] = p.schema(args[0], depth+1)
		} else if s["type"] == "object" && len(args) == 2 {
			s["additionalProperties"] = p.schema(args[1], depth+1)
		}
		return s
	case p.aliases[name] != "":
		return p.schema(p.aliases[name], depth+1)
	case c != nil && len(c.values) > 0:
		return listed(c.values)
	case c != nil:
		return p.object(p.fields(c, depth), depth+1)
	}
	p.unknown[name] = true
	return map[string]any{}
}

// fields are those of the class after those of its bases.
func (p *python) fields(c *class, depth int) (all []string) {
	for _, base := range c.bases {
		if b := p.classes[base]; b != nil && depth < 8 {
			all = append(all, p.fields(b, depth+1)...)
		}
	}
	return append(all, c.fields...)
}

func (p *python) union(parts []string, depth int) map[string]any {
	var branches []any
	for _, part := range parts {
		branches = append(branches, p.schema(part, depth+1))
	}
	return map[string]any{"anyOf": branches}
}

func listed(values []string) map[string]any {
	var list []any
	for _, v := range values {
		var value any
		if json.Unmarshal([]byte(v), &value) != nil {
			value = strings.Trim(v, `"'`)
		}
		list = append(list, value)
	}
	return map[string]any{"enum": list}
}

// statements are the logical lines of a source, with their indentation and without comments and texts over several lines.
func statements(source string) (all []string) {
	var line strings.Builder
	depth := 0
	for i := 0; i < len(source); {
		switch b := source[i]; {
		case b == '#':
			i += max(1, strings.IndexByte(source[i:]+"\n", '\n'))
			continue
		case strings.HasPrefix(source[i:], `"""`) || strings.HasPrefix(source[i:], `'''`):
			end := strings.Index(source[i+3:], source[i:i+3])
			if end < 0 {
				return all
			}
			i += end + 6
			continue
		case b == '"' || b == '\'':
			n := quotedLength(source[i:])
			line.WriteString(source[i : i+n])
			i += n
			continue
		case b == '\n' && depth <= 0:
			if text := strings.TrimRight(line.String(), " "); text != "" {
				all = append(all, text)
			}
			line.Reset()
		case b == '\n': // one blank for the break and the indentation after it
			line.WriteByte(' ')
			i += len(source[i:]) - len(strings.TrimLeft(source[i:], " \n"))
			continue
		default:
			depth += strings.Count("([{", string(b)) - strings.Count(")]}", string(b))
			line.WriteByte(b)
		}
		i++
	}
	return append(all, strings.TrimRight(line.String(), " "))
}

// quotedLength is how long the quoted text is with which the source begins.
func quotedLength(source string) int {
	for i := 1; i < len(source); i++ {
		switch source[i] {
		case '\\':
			i++
		case source[0], '\n':
			return i + 1
		}
	}
	return len(source)
}

// split cuts a list at the separators that are outside of brackets and quotes. A comma at its end is none.
func split(list string, separator byte) (parts []string) {
	depth, start := 0, 0
	for i := 0; i < len(list); i++ {
		switch b := list[i]; {
		case b == '"' || b == '\'':
			i += quotedLength(list[i:]) - 1
		case b == separator && depth == 0:
			parts = append(parts, strings.TrimSpace(list[start:i]))
			start = i + 1
		default:
			depth += strings.Count("([{", string(b)) - strings.Count(")]}", string(b))
		}
	}
	if last := strings.TrimSpace(list[start:]); last != "" {
		parts = append(parts, last)
	}
	return parts
}
