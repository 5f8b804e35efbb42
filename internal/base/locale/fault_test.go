package locale

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestFaultsAreSaidInChinese looks at what the program can say to people: on its pages and on the command line.
func TestFaultsAreSaidInChinese(t *testing.T) {
	var missing []string
	all := 0
	for path, source := range sources(t) {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			format, ok := faultFormat(path, n)
			if !ok || strings.Trim(verb.ReplaceAllString(format, ""), ": ()") == "" || general[format] {
				return true
			}
			all++
			if !isSaid(format) {
				at := set.Position(n.Pos())
				missing = append(missing, fmt.Sprintf("%s:%d: sentences.zh.json: %q", strings.TrimPrefix(path, "../../"), at.Line, format))
			}
			return true
		})
	}
	if all < 1000 {
		t.Fatalf("only %d messages are found", all)
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		t.Errorf("%d of %d messages are not said in Chinese:\n%s", len(missing), all, strings.Join(missing, "\n"))
	}
}

// general are formats that would be recognized in the text of others; what they become is translated as a whole.
var general = map[string]bool{"server %s %s": true, "key name %q %s": true, "%s %s": true, "%s: unknown key%s": true}

var verb = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z]`)

// faultFormat is the message or the hint that a call makes, or a problem that is found in a file.
func faultFormat(path string, n ast.Node) (string, bool) {
	if found, ok := n.(*ast.ReturnStmt); ok && strings.HasSuffix(path, "/fault/plain.go") && len(found.Results) == 1 {
		text, ok := constant(found.Results[0])
		return text, ok && prose.MatchString(text)
	}
	if found, ok := n.(*ast.ReturnStmt); ok && strings.Contains(path, "/state/config/") && len(found.Results) > 0 { // of a check
		problem, ok := constant(found.Results[len(found.Results)-1])
		return "%s: " + problem, ok && prose.MatchString(problem)
	}
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return "", false
	}
	if fun, ok := call.Fun.(*ast.Ident); ok && fun.Name == "broken" && strings.Contains(path, "/state/backup/") {
		return constant(call.Args[0])
	}
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	from, _ := fun.X.(*ast.Ident)
	switch {
	case fun.Sel.Name == "New" && from != nil && from.Name == "fault" && len(call.Args) > 1:
		return constant(call.Args[1])
	case fun.Sel.Name == "fail" && (strings.Contains(path, "/state/config/") || strings.Contains(path, "/base/doctree/")):
		problem, ok := constant(call.Args[1])
		return "%s: " + problem, ok
	case (fun.Sel.Name == "fail" || fun.Sel.Name == "note") && strings.Contains(path, "/state/clientfile/"):
		return constant(call.Args[0])
	case fun.Sel.Name == "protocolError" && strings.Contains(path, "/gateway/upstream/"):
		problem, ok := constant(call.Args[0])
		return "server %s " + problem, ok
	case fun.Sel.Name == "unusable" && strings.Contains(path, "/gateway/oauth/"), fun.Sel.Name == "note" && strings.HasSuffix(path, "/upstream/list.go"):
		return constant(call.Args[0])
	case fun.Sel.Name == "fail" && strings.Contains(path, "/project/mask/parse"):
		return constant(call.Args[2])
	case (fun.Sel.Name == "Sprintf" || fun.Sel.Name == "Errorf") && strings.HasSuffix(path, "/config/fill.go"):
		problem, ok := constant(call.Args[0])
		return "%s: " + problem, ok
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
