package locale

import (
	"encoding/json"
	"errors"
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

// TestTheCommandLineSpeaksChinese reads the source of the command line. What commands print by say, tell, printf, word, count,
// waiting and lang.Sprintf, and the heads of tables, is in cli*.zh.json as it is; all other prose, such as that of errors, is
// recognized by sentences*.zh.json. The help of commands and flags is tested beside them.
func TestTheCommandLineSpeaksChinese(t *testing.T) {
	var missing []string
	all := 0
	for path, source := range sources(t) {
		if !strings.HasPrefix(path, "../../program/cli/") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		r := reader{path: strings.TrimPrefix(path, "../../"), set: set, done: map[ast.Node]bool{}}
		ast.Inspect(file, r.read)
		missing = append(missing, r.missing...)
		all += r.all
	}
	if all < 500 {
		t.Fatalf("only %d texts are found", all)
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		t.Errorf("%d of %d texts have no Chinese:\n%s", len(missing), all, strings.Join(missing, "\n"))
	}
}

type reader struct {
	path    string
	set     *token.FileSet
	done    map[ast.Node]bool // what is looked at already, or for programs
	missing []string
	all     int
}

// printers are the functions that look a text up, with the place of the text in their arguments.
var printers = map[string]int{"say": 0, "tell": 0, "word": 0, "waiting": 0, "printf": 1, "askFor": 3, "Say": 0, "Group": 0}

// forPrograms are functions and fields whose texts nobody reads, or that the test of help covers.
var forPrograms = []string{"Use", "Short", "Long", "Example", "SuggestFor", "Warn", "Info", "Debug", "MustCompile", "LookPath", "Getenv"}

// notSaid are texts that look like prose and are not said to people in their language.
var notSaid = map[string]string{
	"program/cli/skill.go":           "it writes a document for models",
	"program/cli/browser/install.go": "commands for a shell",
	"program/cli/test_progress.go":   "in the language of the test",
	"--env KEY=VALUE":                "a form",
	"--auth SCHEME=KEY":              "a form",
	"--set NAME=VALUE":               "a form",
	"explain":                        "a usage",
	"show NAME":                      "a usage",
	"approve NAME":                   "a usage",
	"Only one usage":                 "Windows says so",
	"toolfit ended with an error":    "a line of a log",
	"  toolfit env %[1]s":            "examples",
	"no such key":                    "a name that no key has",
	"Application Support":            "a folder",
	"/Applications/":                 "a path",
	`C:\Program Files`:               "a path",
	"toolfit logout ":                "a command",
	"mcpServers:\n":                  "a configuration",
}

// typed is how commands begin that people type, and files that are written for other programs.
var typed = regexp.MustCompile(`^(<\?xml|\[Unit\]|(sudo )?(apk|apt|brew|go|npm|npx|pacman|rpm|schtasks|scoop|systemctl|winget) )`)

var prose = regexp.MustCompile(`\pL{2,} \pL{2,}`)

func (r *reader) read(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec:
		return false
	case *ast.Field:
		return n.Tag == nil
	case *ast.KeyValueExpr:
		key, _ := n.Key.(*ast.Ident)
		switch {
		case key == nil:
			r.done[n.Key] = true // the keys of maps are names
		case slices.Contains(forPrograms, key.Name):
			return false
		case key.Name == "None":
			r.exact(n.Value, "")
		case key.Name == "Head":
			if heads, ok := n.Value.(*ast.CompositeLit); ok {
				for _, head := range heads.Elts {
					r.exact(head, "")
				}
			}
		}
	case *ast.AssignStmt:
		if to, ok := n.Lhs[0].(*ast.SelectorExpr); ok && to.Sel.Name == "None" {
			r.exact(n.Rhs[0], "")
		}
	case *ast.CallExpr:
		r.call(n)
	case *ast.BinaryExpr, *ast.BasicLit:
		if r.done[n] {
			return false
		}
		text, ok := joined(n.(ast.Expr))
		if ok && prose.MatchString(strings.ReplaceAll(text, hole, " ")) {
			r.sentence(n, text)
			return false
		}
	}
	return true
}

func (r *reader) call(n *ast.CallExpr) {
	name := ""
	switch fun := n.Fun.(type) {
	case *ast.Ident:
		name = fun.Name
	case *ast.SelectorExpr:
		name = fun.Sel.Name
		if x, ok := fun.X.(*ast.SelectorExpr); ok && name == "Sprintf" && x.Sel.Name == "lang" {
			r.exact(n.Args[0], "")
		}
	}
	if at, ok := printers[name]; ok && len(n.Args) > at {
		r.exact(n.Args[at], "")
	}
	switch {
	case name == "count" && len(n.Args) == 2:
		r.exact(n.Args[1], "%d ")
	case name == "takes" && len(n.Args) == 3:
		r.always(n.Args[2])
	case (name == "usage" || name == "WithHint") && len(n.Args) > 0:
		r.always(n.Args[0])
	case name == "Fprintf" || name == "Fprintln" || name == "Fprint":
		if text, ok := joined(n.Args[min(1, len(n.Args)-1)]); ok && prose.MatchString(text) && !r.excused(text) {
			r.report(n, "print it by say or tell", text)
		}
	case slices.Contains(forPrograms, name), strings.HasSuffix(name, "Var"), strings.HasSuffix(name, "VarP"):
		for _, arg := range n.Args {
			r.done[arg] = true
		}
	}
}

// exact asks for a text as it is.
func (r *reader) exact(e ast.Expr, before string) {
	text, ok := joined(e)
	if !ok || strings.Contains(text, hole) {
		return
	}
	r.done[e] = true
	if strings.ContainsFunc(verb.ReplaceAllString(text, ""), func(c rune) bool { return c >= 'A' && c <= 'z' }) {
		r.all++
		if _, ok := cli()[strings.TrimSpace(before+text)]; !ok && !r.excused(text) {
			r.report(e, "cli.zh.json", before+text)
		}
	}
}

// always asks for a sentence, even if it does not look like prose.
func (r *reader) always(e ast.Expr) {
	if text, ok := joined(e); ok && strings.Trim(verb.ReplaceAllString(text, ""), ": ;{}") != "" {
		r.sentence(e, text)
	}
}

func (r *reader) sentence(n ast.Node, text string) {
	r.done[n] = true
	r.all++
	_, exact := cli()[strings.TrimSpace(text)]
	if !exact && !r.excused(text) && !isSaid(text) {
		r.report(n, "sentences.zh.json", text)
	}
}

// isSaid tells whether each line of a format is recognized; those that are filled in alone need not be.
func isSaid(format string) bool {
	parts := strings.Split(strings.ReplaceAll(format, hole, "%s"), "%%")
	for i := range parts {
		parts[i] = verb.ReplaceAllStringFunc(parts[i], func(v string) string {
			if strings.HasSuffix(v, "q") {
				return `"x1"`
			}
			return "x1"
		})
	}
	for line := range strings.Lines(strings.Join(parts, "%")) {
		line = strings.TrimSpace(line)
		if line != "" && line != "x1" && Chinese.Translate(line) == line {
			return false
		}
	}
	return true
}

func (r *reader) excused(text string) bool {
	if typed.MatchString(text) {
		return true
	}
	for part := range notSaid {
		if part == text || strings.ContainsAny(part, " /:") && strings.Contains(text, part) || r.path == part {
			return true
		}
	}
	return false
}

func (r *reader) report(n ast.Node, where, text string) {
	r.missing = append(r.missing, fmt.Sprintf("%s:%d: %s: %s", r.path, r.set.Position(n.Pos()).Line, where, strconv.Quote(text)))
}

// joined is the text of an expression, with a hole for what is not constant; false if nothing is.
func joined(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return constant(e)
		}
	case *ast.BinaryExpr:
		left, l := joined(e.X)
		right, r := joined(e.Y)
		if e.Op == token.ADD && (l || r) {
			return left + right, true
		}
	}
	return hole, false
}

// TestEveryTextOfTheCommandLineIsRead holds that no translation is given twice, and that both languages fill in the same.
func TestEveryTextOfTheCommandLineIsRead(t *testing.T) {
	seen := map[string]bool{}
	eachText(t, "cli*.zh.json", func(name, english, chinese string) {
		if seen[english] {
			t.Errorf("%s: %q is there twice", name, english)
		}
		seen[english] = true
		if got, want := filledIn(chinese), filledIn(english); !slices.Equal(got, want) {
			t.Errorf("%s: %q fills in %q, not %q", name, english, got, want)
		}
	})
}

// TestEveryTextOfTheCommandLineIsSaid holds that no translation is left over when a text changes. Those of the help are tested
// beside the commands.
func TestEveryTextOfTheCommandLineIsSaid(t *testing.T) {
	literals := map[string]bool{}
	for path, source := range sources(t) {
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if text, ok := joined(e); ok {
					literals[strings.TrimSpace(text)] = true
				}
			}
			return true
		})
	}
	texts := map[string]string{}
	data, err := files.ReadFile("cli.zh.json")
	if err := errors.Join(err, json.Unmarshal(data, &texts)); err != nil {
		t.Fatal(err)
	}
	for english := range texts {
		if !literals[english] && !literals[strings.TrimPrefix(english, "%d ")] {
			t.Errorf("nobody says %q", english)
		}
	}
}

var indexed = regexp.MustCompile(`%(?:\[(\d)\])?([-+# 0-9.]*[a-zA-Z%])`)

// filledIn are the verbs of a format by the numbers of their arguments, in order; and the names that flags have between
// backquotes.
func filledIn(format string) (all []string) {
	at := 0
	for _, m := range indexed.FindAllStringSubmatch(format, -1) {
		if m[2] == "%" {
			continue
		}
		at++
		if n, err := strconv.Atoi(m[1]); err == nil {
			at = n
		}
		all = append(all, fmt.Sprintf("%d%s", at, m[2]))
	}
	if name := regexp.MustCompile("`[^`\n]+`").FindString(format); name != "" && strings.Count(format, "`") == 2 {
		all = append(all, name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
