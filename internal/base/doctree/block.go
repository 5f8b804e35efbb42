package doctree

import (
	"slices"
	"strings"
)

// insertBlock adds a server to a section of the file that is written over several lines.
func (s *Source) insertBlock(section, id string, value *Node) (string, bool) {
	const step = "  "
	i := slices.IndexFunc(s.Root.Entries, func(e Entry) bool { return e.Key == section })
	if i < 0 {
		return s.appendSection(section, blockYAML(id, value, step, step)), true
	}
	top := s.Root.Entries[i]
	if top.Value.Kind == Mapping && !top.Value.Flow {
		return s.insertBeside(i, id, value), true
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
	return strings.Join(slices.Insert(lines, min(top.Line, len(lines)), blockYAML(id, value, indent, step)...), "\n"), true
}

// appendSection adds a section at the end of a file that has none of the name.
func (s *Source) appendSection(section string, server []string) string {
	text := s.Text
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + section + ":\n" + strings.Join(server, "\n") + "\n"
}

// insertBeside adds a server after the last one, in the style of the last one.
func (s *Source) insertBeside(i int, id string, value *Node) string {
	top := s.Root.Entries[i]
	last := top.Value.Entries[len(top.Value.Entries)-1]
	indent := strings.Repeat(" ", max(0, last.Column-1))
	added := []string{indent + yamlScalar(id) + ": " + value.Format(yamlStyle)}
	if !last.Value.Flow {
		added = blockYAML(id, value, indent, strings.Repeat(" ", max(2, last.Column-top.Column)))
	}
	lines := strings.Split(s.Text, "\n")
	stop := len(lines)
	if i+1 < len(s.Root.Entries) {
		stop = s.Root.Entries[i+1].Line - 1
	}
	at := lastLine(lines, last.Line, stop, last.Column-1)
	return strings.Join(slices.Insert(lines, at, added...), "\n")
}

// cutBlock removes the lines of the i-th server. Comments above it stay: they may be
// about more than this server, and a comment lost is lost for good.
func (s *Source) cutBlock(servers *Node, i int) string {
	lines := strings.Split(s.Text, "\n")
	e := servers.Entries[i]
	stop := len(lines)
	if i+1 < len(servers.Entries) {
		stop = servers.Entries[i+1].Line - 1
	} else if next := lineAfter(s.Root, e.Line); next > 0 {
		stop = next - 1
	}
	end := lastLine(lines, e.Line, stop, e.Column)
	return strings.Join(slices.Delete(lines, e.Line-1, end), "\n")
}

// lineAfter is the line of the first top-level key below the given line, or 0.
func lineAfter(root *Node, line int) int {
	for _, e := range root.Entries {
		if e.Line > line {
			return e.Line
		}
	}
	return 0
}

// lastLine is the last of the lines from first to stop (both from 1) that belongs to the
// block there: blank lines at its end do not, nor comments indented less than depth.
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
