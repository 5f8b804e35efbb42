package doctree

import "strings"

// insertFlow adds a key to an object in braces, in JSON or YAML, in the layout of its neighbors.
func (s *Source) insertFlow(obj *Node, key string, value *Node) string {
	text := s.Text
	if len(obj.Entries) == 0 {
		return s.insertFirst(obj, key, value)
	}
	last := obj.Entries[len(obj.Entries)-1]
	spread := strings.Contains(text[obj.Start:last.Start], "\n") // one entry a line
	indent := indentOf(text, last.Start)
	unit := strings.TrimPrefix(indent, indentOf(text, obj.Start))
	if !spread {
		unit = ""
	} else if unit == "" || unit == indent && indentOf(text, obj.Start) != "" {
		unit = "  "
	}
	written := s.formatEntry(key, value, indent, unit)
	if last.Value.End == 0 { // its end is not known: insert first instead
		return text[:obj.Start+1] + written + ", " + text[obj.Start+1:]
	}
	sep := ", "
	if spread {
		sep = ",\n" + indent
	}
	return text[:last.Value.End] + sep + written + text[last.Value.End:]
}

// insertFirst adds a key to an empty object.
func (s *Source) insertFirst(obj *Node, key string, value *Node) string {
	text := s.Text
	if !s.JSON {
		return text[:obj.Start+1] + s.formatEntry(key, value, "", "") + text[obj.Start+1:]
	}
	outer := indentOf(text, obj.Start)
	unit := indentUnit(outer)
	inside := text[obj.Start+1 : obj.End-1]
	if !strings.Contains(inside, "\n") {
		inside += "\n" + outer
	}
	return text[:obj.Start+1] + "\n" + outer + unit + s.formatEntry(key, value, outer+unit, unit) + inside + text[obj.End-1:]
}

func (s *Source) formatEntry(key string, value *Node, indent, unit string) string {
	if s.JSON {
		return QuoteJSON(key) + ": " + formatJSON(value, indent, unit)
	}
	return yamlScalar(key) + ": " + value.Format(yamlStyle)
}

// ReplaceJSON returns the text with another value for a key of the object.
func (s *Source) ReplaceJSON(obj *Node, key string, value *Node) string {
	e := obj.Entries[obj.index(key)]
	indent := indentOf(s.Text, e.Start)
	unit := ""
	if strings.Contains(s.Text[obj.Start:e.Start], "\n") {
		unit = indentUnit(indent)
	}
	return s.Text[:e.Value.Start] + formatJSON(value, indent, unit) + s.Text[e.Value.End:]
}

// cutFlow removes the i-th entry of an object in braces, with one comma.
func (s *Source) cutFlow(obj *Node, i int) (string, bool) {
	plain := s.Text
	if s.JSON {
		plain = plainJSON(s.Text) // same offsets, no comments
	}
	e := obj.Entries[i]
	from := e.Start
	to := e.Value.End
	if to == 0 {
		return "", false
	}
	text := s.Text
	if comma := skipSpace(plain, to); i+1 < len(obj.Entries) && comma < len(plain) && plain[comma] == ',' {
		to = comma + 1
	} else if comma := skipSpace(text, to); comma < len(text) && text[comma] == ',' {
		to = comma + 1 // a trailing one
	} else if i > 0 {
		comma := skipSpace(plain, obj.Entries[i-1].Value.End)
		if obj.Entries[i-1].Value.End == 0 || comma >= from || plain[comma] != ',' {
			return "", false
		}
		text = text[:comma] + text[comma+1:]
		from--
		to--
	}
	from, to = tidy(text, from, to, i == len(obj.Entries)-1)
	return text[:from] + text[to:], true
}

// tidy widens a cut so that it leaves no empty line and no double space.
func tidy(text string, from, to int, last bool) (int, int) {
	line := strings.LastIndexByte(text[:from], '\n')
	rest, _, _ := strings.Cut(text[to:], "\n")
	startsLine := line >= 0 && strings.TrimSpace(text[line:from]) == ""
	switch {
	case startsLine && strings.TrimSpace(rest) == "":
		return line, to + len(rest)
	case last && !startsLine:
		return len(strings.TrimRight(text[:from], " ")), to
	case strings.HasPrefix(rest, " "):
		return from, to + 1
	}
	return from, to
}

// indentUnit returns what one more level adds to an indentation.
func indentUnit(indent string) string {
	if strings.HasPrefix(indent, "\t") {
		return "\t"
	}
	return "  "
}

// indentOf returns the white space that starts the line of an offset.
func indentOf(text string, at int) string {
	line := text[strings.LastIndexByte(text[:at], '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

func skipSpace(text string, at int) int {
	return at + len(text[at:]) - len(strings.TrimLeft(text[at:], " \t\n"))
}
