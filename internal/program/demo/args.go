package demo

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/arguments"
	"github.com/toolfit/toolfit/internal/base/spelling"
)

// args reads the arguments of a call. A tool reads all fields and then calls done once.
type args struct{ arguments.Reader }

// readArgs reads the arguments; none are the empty object.
func readArgs(raw json.RawMessage) *args {
	if len(raw) == 0 {
		return &args{}
	}
	return readObject(raw, "arguments", "")
}

// readObject reads an object; messages call it name.
func readObject(raw json.RawMessage, name, path string) *args {
	a := &args{arguments.Reader{Path: path}}
	if arguments.Kind(raw) != '{' {
		a.Failf("%s: expected an object, got %s", name, arguments.Describe(raw))
		return a
	}
	if err := json.Unmarshal(raw, &a.Values); err != nil {
		a.Failf("%s: expected an object, got broken JSON", name)
	}
	return a
}

// done is the first problem. Unknown fields are problems, too, because the schemas allow none.
func (a *args) done() error {
	if a.Err != nil {
		return a.Err
	}
	for _, name := range slices.Sorted(maps.Keys(a.Values)) {
		if slices.Contains(a.Known, name) {
			continue
		}
		others := "there are no arguments"
		if len(a.Known) > 0 {
			others = "the fields are " + strings.Join(a.Known, ", ")
		}
		shown := a.Path + arguments.Cut(name, arguments.MaxShown)
		return problemf("%s: expected no such field, got %s; %s", shown, arguments.Describe(a.Values[name]), others)
	}
	return nil
}

// near are the three ids most similar to the wanted one, nearest first.
func near(wanted string, ids []string) []string {
	wanted = strings.ToLower(arguments.Cut(wanted, arguments.MaxShown)) // limits the work
	type scored struct {
		id       string
		distance int
	}
	var all []scored
	for _, id := range ids {
		d := 0 // a substring is nearer than any misspelling
		if !strings.Contains(strings.ToLower(id), wanted) {
			d = 1 + spelling.Edits(wanted, strings.ToLower(id), spelling.MaxLetters)
		}
		all = append(all, scored{id, d})
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(a.distance, b.distance) })
	var out []string
	for _, s := range all[:min(3, len(all))] {
		out = append(out, s.id)
	}
	return out
}
