package trial

import (
	"errors"

	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/steps"
)

// Again reads the files that were run, as they were then.
func (k *Kept) Again() (suites []*steps.Suite, err error) {
	read := func(path string) ([]byte, error) {
		text, ok := k.Sources[path]
		if !ok {
			return nil, errors.New("it was not kept with the run")
		}
		return []byte(text), nil
	}
	for _, file := range k.Files {
		s, err := k.parse(file, read)
		if err != nil {
			return nil, fault.New(fault.Conflict, "run %s cannot be run again: %w", k.ID, err)
		}
		if s.Serve != "" {
			return nil, fault.New(fault.Conflict, "run %s cannot be run again from here: %s serves a folder", k.ID, file).WithHint("use: toolfit test")
		}
		suites = append(suites, s)
	}
	if len(suites) == 0 {
		return nil, fault.New(fault.Conflict, "run %s kept no files", k.ID)
	}
	return suites, nil
}

// parse reads one file. What came as text may have no form at all.
func (k *Kept) parse(file string, read func(string) ([]byte, error)) (*steps.Suite, error) {
	if text, ok := k.Sources[file]; ok && isSentences(text) {
		return Written(text)
	}
	return steps.Load(file, read)
}
