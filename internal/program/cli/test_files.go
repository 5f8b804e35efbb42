package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/browsertest/report"
	"github.com/toolfit/toolfit/internal/browsertest/run"
)

const testFolder = "tests"

const locatorsFile = "toolfit.locators.json"

// testFiles are the files of the arguments, and of folders among them.
func testFiles(args []string) ([]string, error) {
	if len(args) == 0 {
		if _, err := os.Stat(testFolder); err != nil {
			return nil, usage("there is no folder %s here; name files or folders, or start with: toolfit test init", testFolder)
		}
		args = []string{testFolder}
	}
	var paths []string
	for _, arg := range args {
		found, err := filesIn(arg)
		if err != nil {
			return nil, usageError{err}
		}
		if len(found) == 0 {
			return nil, usage("%s has no tests; they end in .yaml, .yml or .md", arg)
		}
		for _, path := range found {
			if !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	return paths, nil
}

// filesIn is the file itself, or the tests of a folder sorted by name. Files whose name begins
// with _ are only included by others.
func filesIn(path string) (found []string, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file or folder %s; start with: toolfit test init", path)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		base := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != path && (strings.HasPrefix(base, ".") || base == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".") || strings.EqualFold(base, "readme.md"):
			return nil
		}
		if slices.Contains([]string{".yaml", ".yml", ".md"}, strings.ToLower(filepath.Ext(base))) {
			found = append(found, name)
		}
		return nil
	})
	return found, err
}

type reportFile struct{ form, path string }

var reportForms = map[string]func(io.Writer, []*run.Result) error{"junit": report.JUnit, "html": report.HTML, "json": report.JSON}

func parseReports(words []string) (list []reportFile, err error) {
	for _, w := range words {
		form, path, ok := strings.Cut(w, "=")
		if reportForms[form] == nil || !ok || path == "" {
			return nil, usage("--report %q: expected junit=FILE, html=FILE or json=FILE", w)
		}
		if slices.ContainsFunc(list, func(r reportFile) bool { return filepath.Clean(r.path) == filepath.Clean(path) }) {
			return nil, usage("--report names %s twice", path)
		}
		list = append(list, reportFile{form, path})
	}
	return list, nil
}

// makeRoom checks that the reports can be written before the tests run.
func makeRoom(list []reportFile) error {
	for _, r := range list {
		if err := os.MkdirAll(filepath.Dir(r.path), 0o755); err != nil {
			return usage("--report: %v", err)
		}
		f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			return usage("--report: %v", err)
		}
		f.Close()
	}
	return nil
}

func (r reportFile) write(results []*run.Result) error {
	f, err := os.Create(r.path)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if err := errors.Join(reportForms[r.form](f, results), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", r.path, err)
	}
	return nil
}
