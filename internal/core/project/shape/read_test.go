package shape_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// readBack turns a shaped text into the value again. It follows the package comment and
// knows nothing of the writer: that it can be written is the proof that nothing is lost.
func readBack(text string) (any, error) {
	if v, err := decode(text); err == nil {
		return v, nil // it stayed JSON
	}
	r := &reader{lines: strings.Split(text, "\n")}
	if m := tableHead.FindStringSubmatch(r.lines[0]); m != nil && m[1] == "" {
		r.at++
		return r.table(m[2])
	}
	root := map[string]any{}
	for r.at < len(r.lines) {
		if err := r.line(root); err != nil {
			return nil, err
		}
	}
	return root, nil
}

var tableHead = regexp.MustCompile(`^("(?:[^"\\]|\\.)*"|[^":\[\]]*)\[(\d+)\]:$`)
var lineHead = regexp.MustCompile(`^("(?:[^"\\]|\\.)*"|[^":\[\]]+): `)

type reader struct {
	lines []string
	at    int
}

func (r *reader) line(root map[string]any) error {
	text := r.lines[r.at]
	r.at++
	if m := tableHead.FindStringSubmatch(text); m != nil {
		rows, err := r.table(m[2])
		if err != nil {
			return err
		}
		return put(root, m[1], rows)
	}
	m := lineHead.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("line %d is neither a value nor a table: %q", r.at, text)
	}
	return put(root, m[1], cell(text[len(m[0]):]))
}

func (r *reader) table(count string) (any, error) {
	n, err := strconv.Atoi(count)
	if err != nil || r.at+n >= len(r.lines) {
		return nil, fmt.Errorf("%s rows do not fit", count)
	}
	var constants []string
	if rest, ok := strings.CutPrefix(r.lines[r.at], "all rows: "); ok {
		constants = split(rest)
		r.at++
	}
	if r.at+n >= len(r.lines) {
		return nil, fmt.Errorf("%s rows do not fit", count)
	}
	header := split(r.lines[r.at])
	r.at++
	rows := make([]any, n)
	for i := range rows {
		row := map[string]any{}
		for _, c := range constants {
			name := c
			value := ""
			if end := strings.Index(c, "="); c[0] == '"' {
				_, tail := literal(c)
				name = c[:len(c)-len(tail)]
				value = tail[1:]
			} else {
				name = c[:end]
				value = c[end+1:]
			}
			if err := put(row, name, cell(value)); err != nil {
				return nil, err
			}
		}
		cells := split(r.lines[r.at])
		r.at++
		if len(cells) != len(header) {
			return nil, fmt.Errorf("row %q has %d cells, want %d", r.lines[r.at-1], len(cells), len(header))
		}
		for k, c := range cells {
			if c != "" {
				if err := put(row, header[k], cell(c)); err != nil {
					return nil, err
				}
			}
		}
		rows[i] = row
	}
	return rows, nil
}

// split cuts a line at its commas, but not at those in JSON values.
func split(line string) (cells []string) {
	for {
		end := strings.IndexByte(line, ',')
		start := 0
		if i := strings.IndexAny(line, `"[{=`); i >= 0 && line[i] == '=' && (end < 0 || i < end) {
			start = i + 1 // a constant: its value starts there
		}
		if start < len(line) && strings.IndexByte(`"[{`, line[start]) >= 0 {
			_, rest := literal(line[start:])
			if start == 0 && strings.HasPrefix(rest, "=") { // a constant with a quoted name
				rest = rest[1:]
				if rest != "" && strings.IndexByte(`"[{`, rest[0]) >= 0 {
					_, rest = literal(rest)
				} else if i := strings.IndexByte(rest, ','); i >= 0 {
					rest = rest[i:]
				} else {
					rest = ""
				}
			}
			end = len(line) - len(rest)
			if rest == "" {
				end = -1
			}
		}
		if end < 0 {
			return append(cells, line)
		}
		cells = append(cells, line[:end])
		line = line[end+1:]
	}
}

// literal reads the JSON value at the start of text.
func literal(text string) (any, string) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, ""
	}
	return v, text[d.InputOffset():]
}

func cell(text string) any {
	if v, err := decode(text); err == nil {
		return v
	}
	return text
}

func decode(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if err == nil && int(d.InputOffset()) != len(text) {
		err = fmt.Errorf("more than one value")
	}
	return v, err
}

// put sets a member by its name, which may be dotted or quoted.
func put(into map[string]any, name string, value any) error {
	if strings.HasPrefix(name, `"`) {
		v, rest := literal(name)
		s, ok := v.(string)
		if !ok || rest != "" {
			return fmt.Errorf("name %s", name)
		}
		into[s] = value
		return nil
	}
	head, tail, dotted := strings.Cut(name, ".")
	if !dotted {
		into[name] = value
		return nil
	}
	sub, ok := into[head].(map[string]any)
	if !ok {
		sub = map[string]any{}
		into[head] = sub
	}
	return put(sub, tail, value)
}
