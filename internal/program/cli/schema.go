package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/schema"
)

// schemaCmd works on files of tools, without configuration and gateway.
func (c *command) schemaCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "schema", Short: "Convert tools from a file to a provider's dialect, check them, map arguments back",
		Args: takes(0, 0, "fit, check or back"),
		Example: `  toolfit schema fit --dialect openai-strict tools.json
  toolfit tools --json | toolfit schema check --dialect gemini`,
		Long: `Convert tools from a file to a provider's dialect, check them, map arguments back.

The file is a JSON array, {"tools": […]}, or JSON Lines of {"name", "description",
"inputSchema"}. The providers' forms with "parameters" or "input_schema" work too, and the
output of toolfit tools --json.`,
		RunE: help,
	}
	cmd.AddCommand(c.schemaFit(), c.schemaCheck(), c.schemaBack())
	return cmd
}

func dialectNames() []string {
	var names []string
	for _, d := range slices.Sorted(maps.Keys(schema.Dialects())) {
		names = append(names, string(d))
	}
	return names
}

func dialectFlag(cmd *cobra.Command, dialect *string) {
	cmd.Flags().StringVar(dialect, "dialect", "", "dialect of the provider: "+strings.Join(dialectNames(), ", "))
}

func checkDialect(name string) error {
	if name == "" {
		return usage("--dialect is required: one of %s", strings.Join(dialectNames(), ", "))
	}
	if err := catalog.CheckDialect(schema.Dialect(name)); err != nil {
		return usageError{err}
	}
	return nil
}

var oneFile = takes(0, 1, "one file, or - for standard input")

func (c *command) input(args []string) (data []byte, err error) {
	if len(args) == 0 || args[0] == "-" {
		data, err = io.ReadAll(c.env.In)
	} else {
		data, err = os.ReadFile(args[0])
	}
	if err != nil {
		return nil, fmt.Errorf("read the input: %w", err)
	}
	return data, nil
}

func (c *command) toolsFor(dialect string, args []string) ([]fileTool, error) {
	if err := checkDialect(dialect); err != nil {
		return nil, err
	}
	data, err := c.input(args)
	if err != nil {
		return nil, err
	}
	return readTools(data)
}

func (c *command) printLine(v any) error {
	enc := json.NewEncoder(c.env.Out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func (c *command) schemaFit() *cobra.Command {
	var dialect string
	var request bool
	cmd := &cobra.Command{
		Use: "fit --dialect D [FILE|-]",
		Example: `  toolfit schema fit --dialect openai-strict tools.json
  toolfit tools --json | toolfit schema fit --dialect gemini`,
		Short: "Convert tools to a provider's dialect, and report the changes",
		Long: `Convert tools to a provider's dialect, and report the changes.

It prints the tools as one JSON array, ready for a request, and the report on standard error.
With --json it prints one line for each tool, in order:
{name, dialect, tool, strict, report, error?}. A tool that the dialect does not support has an
error instead of a tool.`,
		Args: oneFile,
		RunE: func(_ *cobra.Command, args []string) error {
			tools, err := c.toolsFor(dialect, args)
			if err != nil {
				return err
			}
			return c.printFit(tools, fitAll(tools, schema.Dialect(dialect), request))
		},
	}
	dialectFlag(cmd, &dialect)
	cmd.Flags().BoolVar(&request, "request", false, "apply the provider's limits for one request to all tools together")
	return cmd
}

// fitAll converts the tools that could be read, with names that every provider accepts: each on
// its own, or all for one request.
func fitAll(tools []fileTool, d schema.Dialect, request bool) []schema.Fitted {
	var good []schema.Tool
	names := fitNames(tools)
	for i, t := range tools {
		if t.problem == nil {
			good = append(good, schema.Tool{Name: names.Shown(i), Description: t.Description, InputSchema: t.InputSchema})
		}
	}
	plans := schema.NewCache(nil)
	var fitted []schema.Fitted
	if request {
		fitted = plans.Fit(good, d)
	}
	for i := len(fitted); i < len(good); i++ {
		fitted = append(fitted, plans.Fit(good[i:i+1], d)...)
	}
	all := make([]schema.Fitted, len(tools))
	for i, t := range tools {
		if t.problem != nil {
			all[i] = schema.Fitted{Name: t.Name, Dialect: d, Report: []schema.Change{}, Error: t.problem}
			continue
		}
		all[i], fitted = fitted[0], fitted[1:]
	}
	return all
}

func fitNames(tools []fileTool) *schema.Names {
	list := make([]schema.Named, len(tools))
	count := map[string]int{}
	for i, t := range tools {
		list[i] = schema.Named{Tool: t.Name}
		count[t.Name]++
		if count[t.Name] > 1 { // another tool of the same name
			list[i].Server = strconv.Itoa(count[t.Name])
		}
	}
	return schema.FitNames(list)
}

type fitLine struct {
	Name string `json:"name"` // original
	schema.Fitted
}

func (c *command) printFit(tools []fileTool, fitted []schema.Fitted) error {
	if c.json {
		for i, f := range fitted {
			if err := c.printLine(fitLine{tools[i].Name, f}); err != nil {
				return err
			}
		}
		return nil
	}
	ready := []json.RawMessage{}
	for _, f := range fitted {
		if f.Error != nil {
			c.tell("%s is left out: %v\n", f.Name, f.Error)
			continue
		}
		c.printReport(f)
		ready = append(ready, f.Tool)
	}
	return c.printJSON(ready)
}

func (c *command) schemaCheck() *cobra.Command {
	var dialect string
	cmd := &cobra.Command{
		Use: "check --dialect D [FILE|-]",
		Example: `  toolfit schema check --dialect anthropic tools.json
  toolfit tools --json | toolfit schema check --dialect gemini`,
		Short: "Find out what a provider would reject in the tools as they are",
		Long: `Find out what a provider would reject in the tools as they are. The exit code is 1 if there is
anything. With --json it prints one line for each tool, in order: {name, dialect, ok,
violations, error?}.`,
		Args: oneFile,
		RunE: func(_ *cobra.Command, args []string) error {
			tools, err := c.toolsFor(dialect, args)
			if err != nil {
				return err
			}
			return c.printChecks(tools, schema.Dialect(dialect))
		},
	}
	dialectFlag(cmd, &dialect)
	return cmd
}

type checkLine struct {
	Name       string             `json:"name"`
	Dialect    schema.Dialect     `json:"dialect"`
	OK         bool               `json:"ok"`
	Violations []schema.Violation `json:"violations"`
	Error      *schema.Error      `json:"error,omitempty"`
}

func (c *command) printChecks(tools []fileTool, d schema.Dialect) error {
	bad := false
	names := fitNames(tools)
	for i, t := range tools {
		line := checkLine{Name: t.Name, Dialect: d, Violations: []schema.Violation{}, Error: t.problem}
		if t.problem == nil {
			if shown := names.Shown(i); shown != t.Name {
				line.Violations = append(line.Violations,
					schema.Violation{Pointer: "/name", Message: fmt.Sprintf("not every provider accepts this name, or it is not unique; use %s", shown)})
			}
			if t.InputSchema != nil { // otherwise the tool has no arguments
				line.Violations = append(line.Violations, schema.Check(t.InputSchema, d)...)
			}
		}
		line.OK = t.problem == nil && len(line.Violations) == 0
		bad = bad || !line.OK
		if err := c.printCheck(line); err != nil {
			return err
		}
	}
	if bad {
		return errSilent
	}
	return nil
}

func (c *command) printCheck(line checkLine) error {
	switch {
	case c.json:
		return c.printLine(line)
	case line.OK:
		c.say("%s: ok\n", line.Name)
	case line.Error != nil:
		c.say("%s: %v\n", line.Name, line.Error)
	}
	for _, v := range line.Violations {
		fmt.Fprintf(c.env.Out, "%s: %s\n", line.Name, strings.TrimPrefix(v.Pointer+": "+c.translate(v.Message), ": "))
	}
	return nil
}
