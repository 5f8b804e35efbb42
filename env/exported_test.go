package env_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// sources are the files of the package, and those of its examples.
func sources(t *testing.T) (fset *token.FileSet, files, examples []*ast.File) {
	t.Helper()
	fset = token.NewFileSet()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		file, err := parser.ParseFile(fset, e.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasPrefix(e.Name(), "example_"):
			examples = append(examples, file)
		case !strings.HasSuffix(e.Name(), "_test.go"):
			files = append(files, file)
		}
	}
	return fset, files, examples
}

func TestEveryFunctionAndTypeHasAnExampleAndAllElseIsInOne(t *testing.T) {
	fset, files, examples := sources(t)
	pkg, err := doc.NewFromFiles(fset, files, "github.com/toolfit/toolfit/env")
	if err != nil {
		t.Fatal(err)
	}
	own, used := map[string]bool{}, map[string]bool{}
	for _, e := range doc.Examples(examples...) {
		own[e.Name] = true
		ast.Inspect(e.Code, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				used[s.Sel.Name] = true
			}
			return true
		})
	}
	funcs := slices.Clone(pkg.Funcs)
	for _, typ := range pkg.Types {
		if !own[typ.Name] {
			t.Errorf("type %s has no example", typ.Name)
		}
		funcs = append(funcs, typ.Funcs...)
		for _, m := range typ.Methods {
			if !own[typ.Name+"_"+m.Name] && !used[m.Name] && m.Name != "MarshalJSON" &&
				m.Name != "ServeHTTP" { // those are called by others
				t.Errorf("method %s.%s is in no example", typ.Name, m.Name)
			}
		}
		for _, values := range slices.Concat(typ.Consts, typ.Vars) {
			checkUsed(t, used, values)
		}
	}
	for _, f := range funcs {
		if !own[f.Name] {
			t.Errorf("func %s has no example", f.Name)
		}
	}
	for _, values := range slices.Concat(pkg.Consts, pkg.Vars) {
		checkUsed(t, used, values)
	}
}

func checkUsed(t *testing.T, used map[string]bool, values *doc.Value) {
	t.Helper()
	for _, name := range values.Names {
		if ast.IsExported(name) && !used[name] {
			t.Errorf("%s is in no example", name)
		}
	}
}
