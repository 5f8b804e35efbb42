// The conventions of the repository, held up by tests.
package toolfit_test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/toolfit/toolfit"

// goPackage is a folder with Go files that are no tests.
type goPackage struct {
	dir      string
	comments int             // files with a package comment
	imports  map[string]bool // of the files that are no tests
}

// packages reads the head of every Go file in the repository.
func packages(t *testing.T) []*goPackage {
	t.Helper()
	byDir := map[string]*goPackage{}
	walk(t, func(path string) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			t.Error(err)
			return
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		p := byDir[dir]
		if p == nil {
			p = &goPackage{dir: dir, imports: map[string]bool{}}
			byDir[dir] = p
		}
		if file.Doc != nil {
			p.comments++
		}
		for _, i := range file.Imports {
			name, _ := strconv.Unquote(i.Path.Value) // the parser has checked it
			p.imports[name] = true
		}
	})
	var all []*goPackage
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		all = append(all, byDir[dir])
	}
	if len(all) < 10 {
		t.Fatalf("only %d packages found: the test looks in the wrong place", len(all))
	}
	return all
}

// walk visits the repository's files. Hidden folders, built programs and test data are no part of it.
func walk(t *testing.T, visit func(path string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != "." && (strings.HasPrefix(name, ".") || name == "bin" || name == "testdata" || name == "node_modules") {
			return filepath.SkipDir
		}
		if !d.IsDir() {
			visit(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestEveryPackageHasOnePackageComment(t *testing.T) {
	for _, p := range packages(t) {
		if p.comments != 1 {
			t.Errorf("%s has %d package comments, want 1", p.dir, p.comments)
		}
	}
}

// only names packages that may import less than their layer allows.
var only = map[string][]string{
	// The demo stands for servers of other people.
	"internal/program/demo": {
		"internal/mcp", "internal/base/arguments", "internal/base/spelling", "internal/agent/script",
		"internal/integration/cloudbase", "internal/integration/cloudbase/fake", "internal/integration/cloudbase/picker",
	},
	"cmd/toolfit": {"internal/program/cli"},
}

// layers reads the table of packages in docs/ARCHITECTURE.md: the number of each package's
// layer, the lowest first. The last layer is for tests alone.
func layers(t *testing.T) (of map[string]int, forTests int) {
	t.Helper()
	text, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n| layer | package |")
	table, _, _ = strings.Cut(table, "\n\n")
	quoted := regexp.MustCompile("`([^`]+)`")
	of = map[string]int{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 {
			continue
		}
		if cells[0] != "|" {
			forTests++
		}
		for _, name := range quoted.FindAllStringSubmatch(cells[1], -1) {
			of[name[1]] = forTests
		}
	}
	return of, forTests
}

func TestImportsGoOneWay(t *testing.T) {
	layer, forTests := layers(t)
	for _, p := range packages(t) {
		at, known := layer[p.dir]
		if !known {
			t.Errorf("%s is not in the table of docs/ARCHITECTURE.md", p.dir)
			continue
		}
		for path := range p.imports {
			name, ours := strings.CutPrefix(path, module+"/")
			if !ours {
				continue
			}
			allowed, limited := only[p.dir]
			switch {
			case layer[name] == forTests && at != forTests:
				t.Errorf("%s imports %s, which is for tests", p.dir, name)
			case limited && !slices.Contains(allowed, name):
				t.Errorf("%s imports %s; it may import only %v", p.dir, name, allowed)
			case layer[name] > at:
				t.Errorf("%s imports %s, which is of a later layer", p.dir, name)
			}
		}
	}
}

func TestEveryPathNamedInADocumentExists(t *testing.T) {
	quoted := regexp.MustCompile("`([^`\n]+)`")
	linked := regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)
	// What begins like this is meant as a path of the repository.
	isPath := regexp.MustCompile(`^(\./)?(cmd|internal|docs|scripts|examples|deploy|env|schema|\.ci)/[\w./-]+$|^[\w-]+\.(go|md|mod)$|^Makefile$`)
	checked := 0
	walk(t, func(path string) {
		if !strings.HasSuffix(path, ".md") {
			return
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			return
		}
		for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
			if !isPath.MatchString(m[1]) {
				continue
			}
			checked++
			if !exists(m[1]) && !exists(filepath.Join(filepath.Dir(path), m[1])) {
				t.Errorf("%s names %s, which does not exist", path, m[1])
			}
		}
		for _, m := range linked.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], ":") {
				continue // another site
			}
			checked++
			if !exists(filepath.Join(filepath.Dir(path), m[1])) {
				t.Errorf("%s links to %s, which does not exist", path, m[1])
			}
		}
	})
	if checked == 0 {
		t.Error("no document names a path: the test looks for the wrong thing")
	}
}

// TestEveryAttackHasItsTest holds that the tests that docs/security.md names exist.
func TestEveryAttackHasItsTest(t *testing.T) {
	text, err := os.ReadFile("docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	tested := regexp.MustCompile("`([\\w/]+)` `(Test\\w+|Fuzz\\w+|Benchmark\\w+)`")
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 3 || strings.HasPrefix(line, "| attack") || strings.HasPrefix(line, "|---") {
			continue
		}
		named := tested.FindAllStringSubmatch(cells[2], -1)
		if len(named) == 0 {
			t.Errorf("no test is named for: %s", cells[0])
		}
		for _, m := range named {
			files, _ := filepath.Glob(filepath.Join(m[1], "*_test.go")) // the pattern is well formed
			if !slices.ContainsFunc(files, func(file string) bool {
				code, err := os.ReadFile(file)
				return err == nil && strings.Contains(string(code), "\nfunc "+m[2]+"(")
			}) {
				t.Errorf("%s has no %s", m[1], m[2])
			}
		}
	}
}

// TestBothReadmesShowTheSame compares what a translation keeps: headings, commands, code and links.
func TestBothReadmesShowTheSame(t *testing.T) {
	kept := regexp.MustCompile("(?m)^#+ |^    .+$|^\\| |`[^`\n]+`|\\]\\([^)\\s]+\\)")
	var shown [2][]string
	for i, name := range []string{"README.md", "README.zh.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		shown[i] = kept.FindAllString(string(text), -1)
	}
	if !slices.Equal(shown[0], shown[1]) {
		t.Errorf("README.md shows\n%q\nand README.zh.md\n%q", shown[0], shown[1])
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// goMod is what the go tool reads from go.mod.
type goMod struct {
	Require []struct{ Path string }
	Replace []struct{ Old struct{ Path string } }
}

func readGoMod(t *testing.T) goMod {
	t.Helper()
	out, err := exec.Command("go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatalf("go mod edit: %v", err)
	}
	var m goMod
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestGoModReplacesNothing(t *testing.T) {
	// A replace would make go install of the product fail.
	for _, r := range readGoMod(t).Replace {
		t.Errorf("go.mod replaces %s", r.Old.Path)
	}
}

// family is the name under which modules that are released together count once.
func family(module string) string {
	if strings.HasPrefix(module, "go.opentelemetry.io/") {
		return "go.opentelemetry.io"
	}
	return module
}

func TestDirectDependenciesStayFew(t *testing.T) {
	const most = 20
	required := readGoMod(t).Require
	used := map[string]bool{}
	for _, p := range packages(t) {
		if strings.HasPrefix(p.dir, "internal/testkit/") || strings.HasPrefix(p.dir, "scripts/") {
			continue // not in the program
		}
		for path := range p.imports {
			for _, r := range required {
				if path == r.Path || strings.HasPrefix(path, r.Path+"/") {
					used[family(r.Path)] = true
				}
			}
		}
	}
	if len(used) == 0 || len(used) > most {
		t.Errorf("%d modules are imported, want 1 to %d: %v", len(used), most, slices.Sorted(maps.Keys(used)))
	}
}
