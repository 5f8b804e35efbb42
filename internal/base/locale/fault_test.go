package locale

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestFaultsAreSaidInChinese looks at what the program can say to people on its pages. Some
// may be missing, so that a new fault needs no translator at once; then it stands in English
// below what its code means.
func TestFaultsAreSaidInChinese(t *testing.T) {
	var missing []string
	all := 0
	for path, source := range sources(t) {
		if strings.HasPrefix(path, "../../program/cli/") { // which speaks English alone
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			format, ok := faultFormat(n)
			if !ok {
				return true
			}
			all++
			message := verb.ReplaceAllString(format, "x1")
			if Chinese.Translate(message) == message {
				missing = append(missing, path+": "+strconv.Quote(format))
			}
			return true
		})
	}
	if all < 300 {
		t.Fatalf("only %d messages are found", all)
	}
	if share := float64(len(missing)) / float64(all); share > 0.3 {
		slices.Sort(missing)
		t.Errorf("%.0f %% of %d messages are not said in Chinese:\n%s", 100*share, all, strings.Join(missing, "\n"))
	}
}

var verb = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z]`)

// faultFormat is the message or the hint that a call makes.
func faultFormat(n ast.Node) (string, bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return "", false
	}
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	from, _ := fun.X.(*ast.Ident)
	switch {
	case fun.Sel.Name == "New" && from != nil && from.Name == "fault" && len(call.Args) > 1:
		return constant(call.Args[1])
	case fun.Sel.Name == "WithHint" && len(call.Args) > 0:
		return constant(call.Args[0])
	}
	return "", false
}

func constant(e ast.Expr) (string, bool) {
	text, ok := e.(*ast.BasicLit)
	if !ok {
		return "", false
	}
	s, err := strconv.Unquote(text.Value)
	return s, err == nil
}
