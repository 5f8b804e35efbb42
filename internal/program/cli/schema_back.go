package cli

import (
	"cmp"
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
		Short: "Map arguments from a model back to the tool's own schema",
		Long: `Map arguments from a model back to the tool's own schema.

The input is a JSON array, {"calls": […]}, or JSON Lines of {"name", "arguments"}; "arguments"
may be JSON text, as some providers send it, and may be called "input" or "args". The tools are
those of --tools, by original or converted name, or each call has its tool's "inputSchema".
With --tool the input is only the arguments of that tool. With --json it prints one line for
each call, in order: {name, dialect, arguments, fixes, error?}.`,
		Example: `  toolfit schema back --dialect openai-strict --tools tools.json --tool get_issue args.json
  toolfit schema back --dialect gemini-params --tools tools.json calls.jsonl --json`,
		Args: oneFile,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkDialect(dialect); err != nil {
				return err
			}
			if name != "" && file == "" {
				return usage("--tool needs --tools")
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
				calls, err = readValues(data, "calls")
			} else {
				err = rawjson.Check(data)
			}
			if err != nil {
				return err
			}
			return c.printBack(b, calls, name)
		},
	}
	dialectFlag(cmd, &dialect)
	cmd.Flags().StringVar(&file, "tools", "", "file with the tools, as for toolfit schema fit")
	cmd.Flags().BoolVar(&request, "request", false, "the tools were sent in one request, as with toolfit schema fit --request")
	cmd.Flags().StringVar(&name, "tool", "", "tool whose arguments are the input")
	return cmd
}

type backward struct {
	dialect schema.Dialect
	byName  map[string]*planned // by original and by converted name
}

type planned struct {
	name   string // original
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
	for i := range fitted { // converted names win
		b.byName[fitted[i].Name] = &planned{tools[i].Name, fitted[i]}
	}
	return b, nil
}

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
			c.tell("%s: %v\n", line.Name, line.Error)
		default:
			fmt.Fprintf(c.env.Out, "%s\n", rawjson.OneLine(line.Arguments))
		}
	}
	if bad {
		return errSilent
	}
	return nil
}

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
		args = []byte(cmp.Or(text, "{}"))
	}
	if inputSchema == nil {
		return b.named(line.Name, args)
	}
	plan, err := schema.Plan(inputSchema, b.dialect, nil)
	return b.back(line, plan, err, args)
}

// named maps the arguments of a tool of --tools.
func (b *backward) named(name string, args []byte) backLine {
	line := backLine{Name: name, Dialect: b.dialect, Fixes: []schema.Fix{}}
	p := b.byName[name]
	if p == nil {
		line.Error = &schema.Error{Reason: badTool, Message: fmt.Sprintf("there is no tool %.100q; give its file with --tools", name)}
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
