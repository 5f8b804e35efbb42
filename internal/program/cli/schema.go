package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/schema"
)

// schemaCmd works on files of tools alone: it needs neither configuration nor gateway.
func (c *command) schemaCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "schema", Short: "Fit tools from a file to a model's provider, check them, map arguments back", Args: exactly(0, "fit, check or back"),
		Long: `Fit tools from a file to a model's provider, check them, map arguments back.

Tools are read as a JSON array, as {"tools": […]}, or as JSON Lines of
{"name", "description", "inputSchema"}. The forms of the providers, with "parameters" or
"input_schema", are read too, and what toolfit tools --json prints.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.schemaFit(), c.schemaCheck(), c.schemaBack())
	return cmd
}

// dialectNames are the dialects, sorted.
func dialectNames() []string {
	var names []string
	for d := range schema.Dialects() {
		names = append(names, string(d))
	}
	slices.Sort(names)
	return names
}

// dialectFlag adds the flag that names a dialect.
func dialectFlag(cmd *cobra.Command, dialect *string) {
	cmd.Flags().StringVar(dialect, "dialect", "", "the provider's dialect: "+strings.Join(dialectNames(), ", "))
	cmd.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions(dialectNames(), cobra.ShellCompDirectiveNoFileComp))
}

// checkDialect makes an unknown dialect the usage error that it is.
func checkDialect(name string) error {
	if name == "" {
		return usage("name the provider's dialect with --dialect; one of %s", strings.Join(dialectNames(), ", "))
	}
	if err := catalog.CheckDialect(schema.Dialect(name)); err != nil {
		return usageError{err}
	}
	return nil
}

// atMostOne takes the name of a file, or nothing for the standard input.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage("%s takes one file, or - for standard input; see: %s --help", cmd.CommandPath(), cmd.CommandPath())
	}
	return nil
}

// input reads the file that the words name.
func (c *command) input(args []string) ([]byte, error) {
	if len(args) == 0 || args[0] == "-" {
		data, err := io.ReadAll(c.env.In)
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return data, nil
	}
	data, err := os.ReadFile(args[0])
	if err != nil {
		return nil, fmt.Errorf("read tools: %w", err)
	}
	return data, nil
}

// toolsFor reads the tools of the file that the words name, once the dialect is a known one.
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

// printLine prints a value on one line.
func (c *command) printLine(v any) error {
	enc := json.NewEncoder(c.env.Out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func (c *command) schemaFit() *cobra.Command {
	var dialect string
	var request bool
	cmd := &cobra.Command{
		Use:   "fit --dialect D [FILE|-]",
		Short: "Print the tools as a model's provider takes them, and what was changed",
		Long: `Print the tools as a model's provider takes them, and what was changed.

The tools are printed as one JSON array, ready for the request; the report goes to the other
output. With --json there is one line for each tool, in order:
{name, dialect, tool, strict, report, error?}. A tool that the dialect cannot carry has an
error and no tool; the others go out all the same.`,
		Args: atMostOne,
		RunE: func(_ *cobra.Command, args []string) error {
			tools, err := c.toolsFor(dialect, args)
			if err != nil {
				return err
			}
			return c.printFit(tools, fitAll(tools, schema.Dialect(dialect), request))
		},
	}
	dialectFlag(cmd, &dialect)
	cmd.Flags().BoolVar(&request, "request", false, "the tools go out in one request: keep the provider's limits over all of them")
	return cmd
}

// fitAll fits the tools that could be read, under names that every provider accepts: each
// on its own, or all for one request.
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
		if count[t.Name]++; count[t.Name] > 1 {
			list[i].Server = strconv.Itoa(count[t.Name]) // another tool of the same name
		}
	}
	return schema.FitNames(list)
}

// fitLine is one line of the output with --json.
type fitLine struct {
	Name string `json:"name"` // as it came
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
			fmt.Fprintf(c.env.Err, "%s is set aside: %v\n", f.Name, f.Error)
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
		Use:   "check --dialect D [FILE|-]",
		Short: "Tell what a model's provider would refuse in the tools as they are",
		Long: `Tell what a model's provider would refuse in the tools as they are. Exit code 1 when there
is something. With --json there is one line for each tool, in order: {name, dialect, ok,
violations, error?}.`,
		Args: atMostOne,
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

// checkLine is one line of the output with --json.
type checkLine struct {
	Name       string             `json:"name"`
	Dialect    schema.Dialect     `json:"dialect"`
	OK         bool               `json:"ok"`
	Violations []schema.Violation `json:"violations"`
	Error      *schema.Error      `json:"error,omitempty"`
}

func (c *command) printChecks(tools []fileTool, d schema.Dialect) error {
	bad := 0
	names := fitNames(tools)
	for i, t := range tools {
		line := checkLine{Name: t.Name, Dialect: d, Violations: []schema.Violation{}, Error: t.problem}
		if t.problem == nil {
			if shown := names.Shown(i); shown != t.Name {
				line.Violations = append(line.Violations, schema.Violation{Pointer: "/name", Message: fmt.Sprintf("not every provider takes this name, or not twice; %s would do", shown)})
			}
			if t.InputSchema != nil { // else the tool takes nothing
				line.Violations = append(line.Violations, schema.Check(t.InputSchema, d)...)
			}
		}
		line.OK = t.problem == nil && len(line.Violations) == 0
		if !line.OK {
			bad++
		}
		if err := c.printCheck(line); err != nil {
			return err
		}
	}
	if bad > 0 {
		return errSilent
	}
	return nil
}

func (c *command) printCheck(line checkLine) error {
	switch {
	case c.json:
		return c.printLine(line)
	case line.OK:
		fmt.Fprintf(c.env.Out, "%s: ok\n", line.Name)
	case line.Error != nil:
		fmt.Fprintf(c.env.Out, "%s: %v\n", line.Name, line.Error)
	}
	for _, v := range line.Violations {
		fmt.Fprintf(c.env.Out, "%s: %s\n", line.Name, strings.TrimPrefix(v.Pointer+": "+v.Message, ": "))
	}
	return nil
}
