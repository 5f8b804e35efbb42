package config

import (
	"slices"
	"strings"
)

// insertBlock adds a server to a section of the file that is written over several lines.
func insertBlock(src *source, section, id string, value *node) (string, bool) {
	const step = "  "
	i := slices.IndexFunc(src.root.entries, func(e entry) bool { return e.key == section })
	if i < 0 {
		return appendSection(src, section, blockYAML(id, value, step, step)), true
	}
	top := src.root.entries[i]
	if top.value.kind == object && !top.value.flow {
		return insertBeside(src, i, id, value), true
	}
	if top.value.kind != nothing && len(top.value.entries) > 0 {
		return "", false
	}
	text := src.text
	if top.value.end > 0 { // {} or null in the way
		text = strings.TrimRight(text[:top.value.at], " ") + text[top.value.end:]
	}
	indent := strings.Repeat(" ", max(0, top.col-1)) + step
	lines := strings.Split(text, "\n")
	return strings.Join(slices.Insert(lines, min(top.line, len(lines)), blockYAML(id, value, indent, step)...), "\n"), true
}

// appendSection adds a section at the end of a file that has none of the name.
func appendSection(src *source, section string, server []string) string {
	text := src.text
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + section + ":\n" + strings.Join(server, "\n") + "\n"
}

// insertBeside adds a server after the last one, in the style of the last one.
func insertBeside(src *source, i int, id string, value *node) string {
	top := src.root.entries[i]
	last := top.value.entries[len(top.value.entries)-1]
	indent := strings.Repeat(" ", max(0, last.col-1))
	added := []string{indent + yamlScalar(id) + ": " + flowYAML(value)}
	if !last.value.flow {
		added = blockYAML(id, value, indent, strings.Repeat(" ", max(2, last.col-top.col)))
	}
	lines := strings.Split(src.text, "\n")
	stop := len(lines)
	if i+1 < len(src.root.entries) {
		stop = src.root.entries[i+1].line - 1
	}
	at := lastLine(lines, last.line, stop, last.col-1)
	return strings.Join(slices.Insert(lines, at, added...), "\n")
}

// cutBlock removes the lines of the i-th server. Comments above it stay: they may be
// about more than this server, and a comment lost is lost for good.
func cutBlock(src *source, servers *node, i int) string {
	lines := strings.Split(src.text, "\n")
	e := servers.entries[i]
	stop := len(lines)
	if i+1 < len(servers.entries) {
		stop = servers.entries[i+1].line - 1
	} else if next := lineAfter(src.root, e.line); next > 0 {
		stop = next - 1
	}
	end := lastLine(lines, e.line, stop, e.col)
	return strings.Join(slices.Delete(lines, e.line-1, end), "\n")
}

// lineAfter is the line of the first top-level key below the given line, or 0.
func lineAfter(root *node, line int) int {
	for _, e := range root.entries {
		if e.line > line {
			return e.line
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
