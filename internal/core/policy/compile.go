package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// maxCost limits the steps of one expression: about 100 ms.
const maxCost = 1_000_000

// compiled is a rule that is ready to be evaluated.
type compiled struct {
	Rule
	program cel.Program // nil: the rule has no expression
	members []string    // of args that the expression names
	whole   bool        // the expression looks at args as a whole
}

// Problem is what is wrong with a rule's expression.
type Problem struct {
	Rule         int // its index
	Line, Column int // in the expression, from 1
	Text         string
}

// environment declares what expressions see.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	members := cel.MapType(cel.StringType, cel.DynType)
	return cel.NewEnv(
		cel.Variable("args", members), cel.Variable("who", members), cel.Variable("tool", members),
		cel.Variable("profile", cel.StringType), cel.Variable("now", cel.TimestampType),
		cel.CrossTypeNumericComparisons(true), cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateTimestampLiterals()),
	)
})

// variableNames are the variables of the environment.
var variableNames = []string{"args", "who", "tool", "profile", "now"}

// known are the members of our own variables: another one is a spelling mistake.
var known = map[string][]string{
	"who":  {"id", "name", "kind", "role", "client", "groups", "scopes"},
	"tool": {"name", "server", "kind", "readOnly", "destructive", "idempotent", "openWorld"},
}

// Compile makes the rules ready. With problems there is no set.
func Compile(rules []Rule) (*Set, []Problem) {
	if len(rules) == 0 {
		return nil, nil
	}
	s := &Set{seen: map[string]bool{}}
	var problems []Problem
	for i, r := range rules {
		c := &compiled{Rule: r}
		s.rules = append(s.rules, c)
		s.sees(r.Who.members()...)
		if r.When == "" {
			continue
		}
		for _, p := range s.compile(c) {
			p.Rule = i
			problems = append(problems, p)
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return s, nil
}

func (s *Set) compile(c *compiled) []Problem {
	env, err := environment()
	if err != nil {
		return []Problem{{Line: 1, Column: 1, Text: err.Error()}}
	}
	checked, issues := env.Compile(c.When)
	if issues.Err() != nil {
		var problems []Problem
		for _, e := range issues.Errors() {
			problems = append(problems, Problem{Line: e.Location.Line(), Column: e.Location.Column() + 1, Text: plain(e.Message)})
		}
		return problems
	}
	if t := checked.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return []Problem{{Line: 1, Column: 1, Text: fmt.Sprintf("is %s; expected true or false", t)}}
	}
	if problems := s.uses(c, checked.NativeRep()); problems != nil {
		return problems
	}
	c.program, err = env.Program(checked, cel.EvalOptions(cel.OptOptimize, cel.OptPartialEval), cel.CostLimit(maxCost))
	if err != nil {
		return []Problem{{Line: 1, Column: 1, Text: plain(err.Error())}}
	}
	return nil
}

// plain is CEL's message without the lists of overloads and of expected tokens, which say little to most readers.
func plain(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	if rest, found := strings.CutPrefix(first, "undeclared reference to "); found {
		name, _, _ := strings.Cut(rest, " ")
		return "there is no " + strings.Trim(name, "'") + "; there are " + strings.Join(variableNames, ", ") + " and the functions of CEL"
	}
	first, _, _ = strings.Cut(first, " expecting ")
	return strings.ReplaceAll(first, "'<EOF>'", "at the end")
}

// uses notes which variables and members the expression looks at, and finds members that do not exist.
func (s *Set) uses(c *compiled, a *ast.AST) (problems []Problem) {
	wrong := func(e ast.Expr, format string, args ...any) {
		at := a.SourceInfo().GetStartLocation(e.ID())
		problems = append(problems, Problem{Line: at.Line(), Column: at.Column() + 1, Text: fmt.Sprintf(format, args...)})
	}
	bare := 0    // uses of args without a member's name
	bareWho := 0 // of who
	ast.PreOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.IdentKind:
			switch e.AsIdent() {
			case "args":
				bare++
			case "who":
				bareWho++
			}
		case ast.ComprehensionKind: // an element of such a name would hide what the expression looks at from us
			if name := e.AsComprehension().IterVar(); slices.Contains(variableNames, name) {
				wrong(e, "%s cannot be the name of an element; choose another", name)
			}
		}
		variable, member := selected(e)
		if variable == "args" {
			bare--
			c.members = append(c.members, member)
		}
		if variable == "who" {
			bareWho--
			s.sees(member)
		}
		if names := known[variable]; names != nil && !slices.Contains(names, member) {
			wrong(e, "%s has no %s; there are %s", variable, member, strings.Join(names, ", "))
		}
	}))
	c.whole = bare > 0
	if bareWho > 0 {
		s.sees(known["who"]...)
	}
	return problems
}

// sees notes that rules look at members of who.
func (s *Set) sees(members ...string) {
	for _, m := range members {
		s.seen[m] = true
	}
}

// selected is the variable and the member of an expression such as args.env or args["env"]; "" for any other.
func selected(e ast.Expr) (variable, member string) {
	var operand ast.Expr
	switch e.Kind() {
	case ast.SelectKind:
		operand = e.AsSelect().Operand()
		member = e.AsSelect().FieldName()
	case ast.CallKind:
		call := e.AsCall()
		if call.FunctionName() != operators.Index || call.Args()[1].Kind() != ast.LiteralKind {
			return "", ""
		}
		name, ok := call.Args()[1].AsLiteral().(types.String)
		if !ok {
			return "", ""
		}
		operand = call.Args()[0]
		member = string(name)
	default:
		return "", ""
	}
	if operand.Kind() != ast.IdentKind {
		return "", ""
	}
	return operand.AsIdent(), member
}

// outcome is what a rule says about one call.
type outcome struct {
	Outcome
	err error
}

var errNotBool = errors.New("is neither true nor false")

func (c *compiled) eval(vars *variables) outcome {
	if c.program == nil {
		return outcome{Outcome: True}
	}
	vars.whole = c.whole
	value, _, err := c.program.Eval(vars.activation())
	switch {
	case err != nil:
		return outcome{Failed, fmt.Errorf("rule %s: %w", c.Name, err)}
	case types.IsUnknown(value):
		return outcome{Outcome: Unknown}
	case value == types.True:
		return outcome{Outcome: True}
	case value == types.False:
		return outcome{Outcome: False}
	}
	return outcome{Failed, fmt.Errorf("rule %s: %w", c.Name, errNotBool)}
}
