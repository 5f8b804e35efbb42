package config

import "strings"

// insertFlow adds a key to an object in braces, in JSON or YAML, laid out as its neighbors are.
func insertFlow(src *source, obj *node, key string, value *node) string {
	text := src.text
	if len(obj.entries) == 0 {
		return insertFirst(src, obj, key, value)
	}
	last := obj.entries[len(obj.entries)-1]
	spread := strings.Contains(text[obj.at:last.at], "\n") // one entry a line
	indent := indentOf(text, last.at)
	unit := strings.TrimPrefix(indent, indentOf(text, obj.at))
	if !spread {
		unit = ""
	} else if unit == "" || unit == indent && indentOf(text, obj.at) != "" {
		unit = "  "
	}
	written := writeEntry(src, key, value, indent, unit)
	if last.value.end == 0 { // where the last value ends is not known: go first instead
		return text[:obj.at+1] + written + ", " + text[obj.at+1:]
	}
	sep := ", "
	if spread {
		sep = ",\n" + indent
	}
	return text[:last.value.end] + sep + written + text[last.value.end:]
}

// insertFirst puts the only entry into an empty object.
func insertFirst(src *source, obj *node, key string, value *node) string {
	text := src.text
	if !src.json {
		return text[:obj.at+1] + writeEntry(src, key, value, "", "") + text[obj.at+1:]
	}
	outer := indentOf(text, obj.at)
	unit := "  "
	if strings.HasPrefix(outer, "\t") {
		unit = "\t"
	}
	inside := text[obj.at+1 : obj.end-1]
	if !strings.Contains(inside, "\n") {
		inside += "\n" + outer
	}
	return text[:obj.at+1] + "\n" + outer + unit + writeEntry(src, key, value, outer+unit, unit) + inside + text[obj.end-1:]
}

func writeEntry(src *source, key string, value *node, indent, unit string) string {
	if src.json {
		return jsonString(key) + ": " + jsonValue(value, indent, unit)
	}
	return yamlScalar(key) + ": " + flowYAML(value)
}

// cutFlow removes the i-th entry of an object in braces, with one comma.
func cutFlow(src *source, obj *node, i int) (string, bool) {
	plain := src.text
	if src.json {
		plain = plainJSON(src.text) // same offsets, no comments
	}
	e := obj.entries[i]
	from, to := e.at, e.value.end
	if to == 0 {
		return "", false
	}
	text := src.text
	if comma := skipSpace(plain, to); i+1 < len(obj.entries) && comma < len(plain) && plain[comma] == ',' {
		to = comma + 1
	} else if comma := skipSpace(text, to); comma < len(text) && text[comma] == ',' {
		to = comma + 1 // a trailing one
	} else if i > 0 {
		comma := skipSpace(plain, obj.entries[i-1].value.end)
		if obj.entries[i-1].value.end == 0 || comma >= from || plain[comma] != ',' {
			return "", false
		}
		text = text[:comma] + text[comma+1:]
		from, to = from-1, to-1
	}
	from, to = tidy(text, from, to, i == len(obj.entries)-1)
	return text[:from] + text[to:], true
}

// tidy widens a cut so that no empty line and no double space stays behind.
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

// indentOf is the white space that starts the line of an offset.
func indentOf(text string, at int) string {
	line := text[strings.LastIndexByte(text[:at], '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

func skipSpace(text string, at int) int {
	return at + len(text[at:]) - len(strings.TrimLeft(text[at:], " \t\n"))
}
