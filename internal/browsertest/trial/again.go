package trial

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// Settings are what an order says beside its files.
type Settings struct {
	Base    string              `json:"base,omitempty"` // the address that was tested; "": the files' own
	Model   string              `json:"model,omitempty"`
	Workers int                 `json:"workers,omitempty"`
	Vars    map[string]string   `json:"vars,omitempty"`
	Timeout time.Duration       `json:"timeout,omitempty"`
	Retries int                 `json:"retries,omitempty"`
	Chosen  map[string][]string `json:"chosen,omitempty"` // the cases of each file; nil, of older runs: all
}

func (o *Order) settings() Settings {
	t := Settings{
		Base: o.Options.Base, Model: o.Model, Workers: o.Workers, Timeout: o.Options.Timeout, Retries: o.Options.Retries,
		Vars: map[string]string{}, Chosen: map[string][]string{},
	}
	for name, value := range o.Options.Vars {
		if !slices.ContainsFunc(o.Options.Secrets, func(s string) bool { return strings.Contains(value, s) }) {
			t.Vars[name] = value // a secret is given anew each time
		}
	}
	for _, s := range o.Suites {
		for _, c := range s.Cases {
			t.Chosen[s.File] = append(t.Chosen[s.File], c.Name)
		}
	}
	return t
}

// Again makes an order to run the same cases again. What the order says already stays.
func (k *Run) Again(o *Order) (err error) {
	if k.Outcome == Running {
		return fault.New(fault.Conflict, "run %s is still under way", k.ID).WithHint("wait until it has ended")
	}
	if o.Suites, err = k.suites(); err != nil {
		return err
	}
	o.Name = k.Name
	o.Sources = k.Sources
	o.Model = cmp.Or(o.Model, k.Model)
	o.Workers = cmp.Or(o.Workers, k.Workers)
	opts := &o.Options
	opts.Base = cmp.Or(opts.Base, k.Base)
	opts.Timeout = cmp.Or(opts.Timeout, k.Timeout)
	opts.Retries = cmp.Or(opts.Retries, k.Retries)
	vars := map[string]string{}
	maps.Copy(vars, k.Vars)
	maps.Copy(vars, opts.Vars)
	opts.Vars = vars
	return nil
}

// suites reads the files that were run, as they were then.
func (k *Run) suites() (suites []*steps.Suite, err error) {
	read := func(path string) ([]byte, error) {
		text, ok := k.Sources[path]
		if !ok {
			return nil, errors.New("it was not kept with the run")
		}
		return []byte(text), nil
	}
	if len(k.Files) == 0 || len(k.Sources) == 0 {
		return nil, fault.New(fault.Conflict, "run %s kept no files", k.ID)
	}
	for _, file := range k.Files {
		s, err := k.parse(file, read)
		if err != nil {
			return nil, fault.New(fault.Conflict, "run %s cannot be run again: %w", k.ID, err)
		}
		if s.Serve != "" {
			return nil, fault.New(fault.Conflict, "run %s cannot be run again from here: %s serves a folder", k.ID, file).
				WithHint("use: toolfit test")
		}
		if k.Chosen != nil {
			s.Cases = slices.DeleteFunc(s.Cases, func(c steps.Case) bool { return !slices.Contains(k.Chosen[file], c.Name) })
		}
		suites = append(suites, s)
	}
	return suites, nil
}

// parse reads one file. What came as text may have no form at all.
func (k *Run) parse(file string, read func(string) ([]byte, error)) (*steps.Suite, error) {
	if text, ok := k.Sources[file]; ok && file == writtenFile {
		return ParseText(text)
	}
	return steps.Load(file, read)
}
