package doctree

import (
	"slices"
	"strings"
)

// insertBlock adds a key to a top-level section that is written over several lines, or to a new
// section at the end.
func (s *Source) insertBlock(section, key string, value *Node) (string, bool) {
	const step = "  "
	i := s.Root.index(section)
	if i < 0 {
		text := s.Text
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return text + section + ":\n" + strings.Join(blockYAML(key, value, step, step), "\n") + "\n", true
	}
	top := s.Root.Entries[i]
	if top.Value.Kind == Mapping && !top.Value.Flow {
		return s.insertBeside(i, key, value), true
	}
	if top.Value.Kind != Nothing && len(top.Value.Entries) > 0 {
		return "", false
	}
	text := s.Text
	if top.Value.End > 0 { // {} or null in the way
		text = strings.TrimRight(text[:top.Value.Start], " ") + text[top.Value.End:]
	}
	indent := strings.Repeat(" ", max(0, top.Column-1)) + step
	lines := strings.Split(text, "\n")
	return strings.Join(slices.Insert(lines, min(top.Line, len(lines)), blockYAML(key, value, indent, step)...), "\n"), true
}

// insertBeside adds a key to the i-th section, after the last key and in its style.
func (s *Source) insertBeside(i int, key string, value *Node) string {
	top := s.Root.Entries[i]
	last := top.Value.Entries[len(top.Value.Entries)-1]
	indent := strings.Repeat(" ", max(0, last.Column-1))
	added := []string{indent + yamlScalar(key) + ": " + value.Format(yamlStyle)}
	if !last.Value.Flow {
		added = blockYAML(key, value, indent, strings.Repeat(" ", max(2, last.Column-top.Column)))
	}
	lines := strings.Split(s.Text, "\n")
	stop := len(lines)
	if i+1 < len(s.Root.Entries) {
		stop = s.Root.Entries[i+1].Line - 1
	}
	at := lastLine(lines, last.Line, stop, last.Column-1)
	return strings.Join(slices.Insert(lines, at, added...), "\n")
}

// cutBlock removes the lines of the i-th key. Comments above it stay: they may be about more
// than this key.
func (s *Source) cutBlock(mapping *Node, i int) string {
	lines := strings.Split(s.Text, "\n")
	e := mapping.Entries[i]
	stop := len(lines)
	for _, next := range slices.Concat(mapping.Entries[i+1:], s.Root.Entries) {
		if next.Line > e.Line {
			stop = next.Line - 1
			break
		}
	}
	end := lastLine(lines, e.Line, stop, e.Column)
	return strings.Join(slices.Delete(lines, e.Line-1, end), "\n")
}

// lastLine returns the last of the lines from first to stop (both from 1) that belongs to the
// block: blank lines at its end do not, nor comments indented less than depth.
func lastLine(lines []string, first, stop, depth int) int {
	for at := stop; at > first; at-- {
		line := lines[at-1]
		body := strings.TrimLeft(line, " ")
		outside := len(line)-len(body) < depth &&
			(strings.HasPrefix(body, "#") || strings.HasPrefix(body, "---") || strings.HasPrefix(body, "..."))
		if strings.TrimSpace(line) != "" && !outside {
			return at
		}
	}
	return first
}
