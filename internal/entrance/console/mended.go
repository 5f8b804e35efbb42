package console

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/linediff"
	"github.com/toolfit/toolfit/internal/core/fit"
)

// maxMended is how many lines of arguments are compared; of longer ones both are shown whole.
const maxMended = 500

// mendedLine is a line of arguments before or after they were repaired.
type mendedLine struct {
	linediff.Line
	Why []fit.Kind // the repairs that changed it
}

// mended compares arguments as they were sent with those that the tool got. Each repair stands at the first line that it has
// changed; those for which there is none are left.
func mended(sent, got json.RawMessage, repairs []fit.Repair) (lines []mendedLine, left []fit.Repair) {
	before, after := indentLines(sent), indentLines(got)
	if len(before) > maxMended || len(after) > maxMended {
		return nil, repairs
	}
	gone, came := pointersOf(before), pointersOf(after)
	var at []string // the pointers of the lines
	for _, l := range linediff.Compare(before, after, sameJSON) {
		lines = append(lines, mendedLine{Line: l})
		switch l.Mark {
		case "-":
			at, gone = append(at, gone[0]), gone[1:]
		case "+":
			at, came = append(at, came[0]), came[1:]
		default:
			at, gone, came = append(at, came[0]), gone[1:], came[1:]
		}
	}
	for _, r := range repairs {
		if i := changedAt(lines, at, r.Field); i >= 0 {
			lines[i].Why = append(lines[i].Why, r.Kind)
		} else {
			left = append(left, r)
		}
	}
	return lines, left
}

// changedAt is the first line that differs at a pointer, or else below it; -1: there is none. New lines come before those that
// are gone.
func changedAt(lines []mendedLine, at []string, pointer string) int {
	for _, fits := range []func(string) bool{
		func(p string) bool { return p == pointer },
		func(p string) bool { return strings.HasPrefix(p, pointer+"/") },
	} {
		for _, mark := range []string{"+", "-"} {
			for i, l := range lines {
				if l.Mark == mark && fits(at[i]) {
					return i
				}
			}
		}
	}
	return -1
}

// pointersOf are the JSON pointers of what stands on the lines of indented JSON. Of lines that are none, nothing is held but
// their number.
func pointersOf(lines []string) []string {
	type level struct {
		pointer string
		list    bool
		next    int // index of the next element of a list
	}
	var within []level
	pointers := make([]string, len(lines))
	for i, line := range lines {
		text := strings.TrimSuffix(strings.TrimSpace(line), ",")
		depth := len(within) - 1
		if text == "}" || text == "]" {
			if depth >= 0 {
				pointers[i] = within[depth].pointer
				within = within[:depth]
			}
			continue
		}
		if depth >= 0 {
			name := strconv.Itoa(within[depth].next)
			within[depth].next++
			if !within[depth].list {
				name = memberName(text)
			}
			pointers[i] = within[depth].pointer + "/" + name
		}
		if strings.HasSuffix(text, "{") || strings.HasSuffix(text, "[") {
			within = append(within, level{pointer: pointers[i], list: strings.HasSuffix(text, "[")})
		}
	}
	return pointers
}

// pointerEscapes is how a name stands in a JSON pointer.
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// memberName is the name that a line begins with, as it stands in a pointer.
func memberName(line string) (name string) {
	if strings.HasPrefix(line, `"`) {
		_ = json.Unmarshal([]byte(line[:stringEnd(line, 0)]), &name) // "": the line is no JSON
	}
	return pointerEscapes.Replace(name)
}
