package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/schema"
)

func (c *command) schemaBack() *cobra.Command {
	var dialect, file, name string
	var request bool
	cmd := &cobra.Command{
		Use:   "back --dialect D [--tools FILE [--tool NAME]] [FILE|-]",
		Short: "Map the arguments that a model sent back to those that the tool takes",
		Long: `Map the arguments that a model sent back to those that the tool takes.

Calls are read as a JSON array, as {"calls": […]} or as JSON Lines of {"name", "arguments"};
"arguments" may be JSON text, as some providers send it, and "input" and "args" are read too.
The tools are those of --tools, under the name that the model was shown or their own; or each
call brings its tool's "inputSchema" along. With --tool the input is the bare arguments of
that tool. With --json there is one line for each call, in order:
{name, dialect, arguments, fixes, error?}.`,
		Example: `  toolfit schema back --dialect openai-strict --tools tools.json --tool get_issue args.json
  toolfit schema back --dialect gemini-params --tools tools.json calls.jsonl --json`,
		Args: atMostOne,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkDialect(dialect); err != nil {
				return err
			}
			if name != "" && file == "" {
				return usage("--tool names a tool of --tools; give both")
			}
			b, err := newBackward(schema.Dialect(dialect), file, request)
			if err != nil {
				return err
			}
			data, err := c.input(args)
			if err != nil {
				return err
			}
			calls := []value{{raw: data}}
			if name == "" {
				if calls, err = readValues(data, "calls"); err != nil {
					return err
				}
			} else if err := rawjson.Check(data); err != nil {
				return fmt.Errorf("read arguments: %w", err)
			}
			return c.printBack(b, calls, name)
		},
	}
	dialectFlag(cmd, &dialect)
	cmd.Flags().StringVar(&file, "tools", "", "file of the tools, as for: toolfit schema fit")
	cmd.Flags().BoolVar(&request, "request", false, "the tools went out in one request, as for: toolfit schema fit --request")
	cmd.Flags().StringVar(&name, "tool", "", "the tool whose bare arguments are read")
	return cmd
}

// backward maps calls back.
type backward struct {
	dialect schema.Dialect
	byName  map[string]*planned // under both names
}

type planned struct {
	name   string // the tool's own
	fitted schema.Fitted
}

func newBackward(d schema.Dialect, file string, request bool) (*backward, error) {
	b := &backward{dialect: d, byName: map[string]*planned{}}
	if file == "" {
		return b, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read tools: %w", err)
	}
	tools, err := readTools(data)
	if err != nil {
		return nil, err
	}
	fitted := fitAll(tools, d, request)
	for i := range fitted {
		p := &planned{tools[i].Name, fitted[i]}
		if b.byName[p.name] == nil {
			b.byName[p.name] = p
		}
	}
	for i := range fitted { // a shown name is exact, so it wins
		b.byName[fitted[i].Name] = &planned{tools[i].Name, fitted[i]}
	}
	return b, nil
}

// backLine is one line of the output with --json.
type backLine struct {
	Name      string          `json:"name"`
	Dialect   schema.Dialect  `json:"dialect"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Fixes     []schema.Fix    `json:"fixes"`
	Error     *schema.Error   `json:"error,omitempty"`
}

func (c *command) printBack(b *backward, calls []value, name string) error {
	bad := false
	for _, call := range calls {
		var line backLine
		if name != "" {
			line = b.named(name, call.raw)
		} else {
			line = b.call(call)
		}
		bad = bad || line.Error != nil
		switch {
		case c.json:
			if err := c.printLine(line); err != nil {
				return err
			}
		case line.Error != nil:
			fmt.Fprintf(c.env.Err, "%s: %v\n", line.Name, line.Error)
		default:
			fmt.Fprintf(c.env.Out, "%s\n", rawjson.OneLine(line.Arguments))
		}
	}
	if bad {
		return errSilent
	}
	return nil
}

// call maps one call of a file.
func (b *backward) call(v value) backLine {
	line := backLine{Dialect: b.dialect, Fixes: []schema.Fix{}}
	if v.problem != nil || v.raw[0] != '{' {
		line.Error = readTool(v).problem
		return line
	}
	raw := []byte(v.raw)
	if f := rawjson.Get(raw, "function"); len(f) > 0 && f[0] == '{' {
		raw = f
	}
	args := []byte(`{}`)
	var inputSchema json.RawMessage
	for w := rawjson.Object(raw); w.Next(); {
		switch string(w.Key) {
		case "name":
			line.Name, _ = rawjson.String(w.Value)
		case "inputSchema":
			inputSchema = w.Value
		case "arguments", "input", "args":
			args = w.Value
		}
	}
	if text, ok := rawjson.String(args); ok {
		if args = []byte(text); text == "" {
			args = []byte(`{}`)
		}
	}
	if inputSchema == nil {
		return b.named(line.Name, args)
	}
	plan, err := schema.Plan(inputSchema, b.dialect, nil)
	return b.back(line, plan, err, args)
}

// named maps the arguments of a tool of the file.
func (b *backward) named(name string, args []byte) backLine {
	line := backLine{Name: name, Dialect: b.dialect, Fixes: []schema.Fix{}}
	p := b.byName[name]
	if p == nil {
		line.Error = &schema.Error{Reason: badTool, Message: fmt.Sprintf("there is no tool %.100q; name its file with --tools", name)}
		return line
	}
	line.Name = p.name
	if p.fitted.Error != nil {
		line.Error = p.fitted.Error
		return line
	}
	return b.back(line, p.fitted.Plan, nil, args)
}

func (b *backward) back(line backLine, plan *schema.Result, err error, args []byte) backLine {
	if err == nil {
		var fixes []schema.Fix
		line.Dialect = plan.Dialect
		line.Arguments, fixes, err = plan.Back(args)
		line.Fixes = append(line.Fixes, fixes...)
	}
	if err != nil && !errors.As(err, &line.Error) {
		line.Error = &schema.Error{Reason: schema.BadArguments, Message: err.Error()}
	}
	return line
}
