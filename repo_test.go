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

// layers is the import order, the lowest first. A package imports from earlier rows and
// from its own, never from a later one.
var layers = [][]string{
	{"internal/fault", "internal/rawjson", "internal/arguments", "internal/tool", "internal/locale", "internal/stylesheet", "internal/procgroup", "internal/inbound", "internal/spelling", "internal/secret", "internal/origin", "internal/share", "internal/keeper", "internal/regular", "internal/visible"},
	{"internal/jsonschema", "internal/mcp", "schema", "internal/tokens"},
	{"internal/openapi", "internal/fit", "internal/project", "internal/project/mask", "internal/project/quoted", "internal/project/shape", "internal/project/fields", "internal/project/clean", "internal/project/suggest", "internal/project/jqworker", "internal/prompt", "internal/search"},
	{"internal/config", "internal/store", "internal/access"},
	{"internal/httpapi", "internal/upstream", "internal/catalog", "internal/record", "internal/meaning"},
	{"internal/call"},
	{"internal/cloudbase", "internal/cloudbase/fake", "internal/cloudbase/picker", "internal/recall", "internal/recall/toon", "env", "internal/agent", "internal/agent/endpoint", "internal/agent/script", "internal/agent/toolcall"},
	{"internal/demo", "internal/gatewayenv", "internal/steps", "internal/steps/grammar", "internal/steps/find", "internal/steps/snapshot", "internal/steps/run", "internal/steps/report", "internal/steps/trial"},
	{"internal/mcpserver", "internal/restapi", "internal/chatapi", "internal/console"},
	{"internal/app"},
	{"internal/cli"},
	{"cmd/toolfit", "internal/bench", "examples/workshop", "examples/env-in-40-lines", "examples/env-client-test", "examples/env-mcp-server", "examples/env-mcp-server-from-env", "examples/env-mcp-server-http"},
}

// only names packages that may import less than their row allows.
var only = map[string][]string{
	"internal/demo": {"internal/arguments", "internal/mcp", "internal/spelling", "internal/agent/script", "internal/cloudbase", "internal/cloudbase/fake", "internal/cloudbase/picker"}, // it stands for servers of other people
	"cmd/toolfit":   {"internal/cli"},
}

// forTests are the packages that nothing but tests may import.
var forTests = []string{"internal/corpora", "internal/e2e", "internal/testparts"}

func TestImportsGoOneWay(t *testing.T) {
	row := map[string]int{}
	for i, names := range layers {
		for _, name := range names {
			row[name] = i
		}
	}
	for _, p := range packages(t) {
		at, known := row[p.dir]
		if !known && !slices.Contains(forTests, p.dir) {
			t.Errorf("%s has no place in the table of layers", p.dir)
			continue
		}
		for path := range p.imports {
			name, ours := strings.CutPrefix(path, module+"/")
			if !ours {
				continue
			}
			allowed, limited := only[p.dir]
			switch {
			case slices.Contains(forTests, name):
				t.Errorf("%s imports %s, which is for tests", p.dir, name)
			case limited && !slices.Contains(allowed, name):
				t.Errorf("%s imports %s; it may import only %v", p.dir, name, allowed)
			case row[name] > at:
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

func TestDirectDependenciesStayFew(t *testing.T) {
	const most = 16
	required := readGoMod(t).Require
	used := map[string]bool{}
	for _, p := range packages(t) {
		for path := range p.imports {
			for _, r := range required {
				if path == r.Path || strings.HasPrefix(path, r.Path+"/") {
					used[r.Path] = true
				}
			}
		}
	}
	if len(used) == 0 || len(used) > most {
		t.Errorf("%d modules are imported, want 1 to %d: %v", len(used), most, slices.Sorted(maps.Keys(used)))
	}
}
