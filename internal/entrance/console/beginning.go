package console

import "bytes"

// beginning makes a block of a text of which only the beginning can be shown. Long JSON is
// indented as far as it is shown, and no further.
func beginning(label string, raw []byte) block { return beginningUpTo(label, raw, maxCode) }

// beginningUpTo is beginning with another bound than maxCode.
func beginningUpTo(label string, raw []byte, most int) block {
	if len(raw) <= most/4 {
		return codeUpTo(label, raw, most)
	}
	if trimmed := bytes.TrimSpace(raw); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		raw = indented(trimmed, most+1)
	}
	return codeUpTo(label, raw, most)
}

// indented is the beginning of a JSON text, a member on each line, of about so many bytes. It
// does not check: what is no JSON comes out with other white space.
func indented(raw []byte, limit int) []byte {
	out := make([]byte, 0, limit+64)
	depth, inString := 0, false
	line := func() { out = append(append(out, '\n'), bytes.Repeat([]byte("  "), min(depth, 40))...) }
	for i := 0; i < len(raw) && len(out) < limit; i++ {
		c := raw[i]
		switch {
		case inString:
			out = append(out, c)
			if c == '\\' && i+1 < len(raw) {
				i++
				out = append(out, raw[i])
			}
			inString = c != '"'
		case c == '"':
			out, inString = append(out, c), true
		case c == '{' || c == '[':
			out = append(out, c)
			if depth++; i+1 < len(raw) && raw[i+1] != '}' && raw[i+1] != ']' {
				line()
			}
		case c == '}' || c == ']':
			if depth = max(0, depth-1); i > 0 && raw[i-1] != '{' && raw[i-1] != '[' {
				line()
			}
			out = append(out, c)
		case c == ',':
			out = append(out, c)
			line()
		case c == ':':
			out = append(out, ": "...)
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
		default:
			out = append(out, c)
		}
	}
	return out
}
