package cli

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

func (c *command) recipes() *cobra.Command {
	cmd := c.listRecipes("recipes", "List scripts that were saved as tools; save, approve and delete them")
	cmd.AddCommand(c.listRecipes("list", "List scripts that were saved as tools"),
		c.oneRecipe("show NAME", "Show a recipe: its script, its schemas, and the tools that it uses", http.MethodGet, "", c.printRecipe),
		c.saveRecipe(),
		c.oneRecipe("approve NAME", "Pin a recipe to its tools as they are now", http.MethodPost, "/approve", c.sayRecipe),
		c.deleteRecipe())
	return cmd
}

func (c *command) listRecipes(use, short string) *cobra.Command {
	var flags askFlags
	cmd := &cobra.Command{
		Use: use, Short: short, Args: noArguments,
		Example: "  toolfit recipes list\n  toolfit recipes list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return askFor(c, cmd, flags, "listing recipes", request{path: "/recipes"}, func(_ *gateway, found restapi.RecipeList) error {
				t := terminal.Table{Wraps: true, Head: []string{"NAME", "STATE", "VERSION", "BY", "TOOLS", "WHAT"},
					None: "no recipes; save a run of a script with: toolfit recipes save CALL --name NAME --description TEXT"}
				for _, r := range found.Recipes {
					t.Row(r.Name, c.word(string(r.State)), strconv.FormatInt(r.Version, 10), r.By, usedTools(r), line(c.translate(whatOf(r))))
				}
				return c.print(&t)
			})
		},
	}
	flags.addGateway(cmd)
	return cmd
}

func whatOf(r restapi.Recipe) string {
	if r.Reason != "" {
		return r.Reason
	}
	return r.Description
}

func usedTools(r restapi.Recipe) string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, string(t.Name))
	}
	return strings.Join(names, ", ")
}

// oneRecipe is a command about one recipe.
func (c *command) oneRecipe(use, short, method, below string, print func(restapi.Recipe) error) *cobra.Command {
	var flags askFlags
	cmd := &cobra.Command{
		Use: use, Short: short, Args: takes(1, 1, "the name of a recipe"),
		Example: "  toolfit recipes " + strings.Replace(use, "NAME", "paid-orders", 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := request{method: method, path: "/recipes/" + url.PathEscape(args[0]) + below}
			return askFor(c, cmd, flags, "asking the gateway", r, func(_ *gateway, found restapi.Recipe) error { return print(found) })
		},
	}
	flags.addGateway(cmd)
	return cmd
}

func (c *command) printRecipe(r restapi.Recipe) error {
	t := terminal.Table{}
	t.Row(c.word("tool"), string(r.Tool))
	t.Row(c.word("what"), line(r.Description))
	t.Row(c.word("state"), strings.TrimSuffix(c.word(string(r.State))+": "+c.translate(r.Reason), ": "))
	t.Row(c.word("version"), strconv.FormatInt(r.Version, 10))
	t.Row(c.word("by"), r.By)
	t.Row(c.word("at"), r.At.Local().Format(time.DateTime))
	t.Row(c.word("saved from"), r.Run)
	t.Row(c.word("uses"), usedTools(r))
	t.Row(c.word("input"), string(r.Input))
	if r.Output != nil {
		t.Row(c.word("output"), string(r.Output))
	}
	if err := c.print(&t); err != nil {
		return err
	}
	return c.printf(nil, "script:\n%s\n", visible.Text(r.Code))
}

func (c *command) sayRecipe(r restapi.Recipe) error {
	return c.printf(nil, "%s is %s, version %d\n", r.Tool, c.word(string(r.State)), r.Version)
}

func (c *command) saveRecipe() *cobra.Command {
	var flags askFlags
	var name, description, input, output string
	cmd := &cobra.Command{
		Use: "save CALL", Short: "Save a run of a script as a tool; CALL is the id of the call of run_script",
		Example: `  toolfit recipes save c_1k0c7v6xawvd7ahvq3m --name paid-orders --description 'Sums up the paid orders of a day'`,
		Args:    takes(1, 1, "the id of a call of run_script"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if name == "" || description == "" {
				return usage("give the recipe a --name and a --description")
			}
			order := restapi.RecipeOrder{Run: args[0], Name: name, Description: description}
			if order.Input, err = readSchema(input); err != nil {
				return err
			}
			if order.Output, err = readSchema(output); err != nil {
				return err
			}
			body, err := json.Marshal(order)
			if err != nil {
				return err
			}
			r := request{method: http.MethodPost, path: "/recipes", body: body}
			return askFor(c, cmd, flags, "saving the recipe", r, func(_ *gateway, found restapi.Recipe) error { return c.sayRecipe(found) })
		},
	}
	flags.addGateway(cmd)
	cmd.Flags().StringVar(&name, "name", "", "its name: callers find it as recipes__NAME")
	cmd.Flags().StringVar(&description, "description", "", "what it does and when to use it, for models")
	cmd.Flags().StringVar(&input, "input", "", "file with a JSON Schema of its arguments (default: as the run's input was)")
	cmd.Flags().StringVar(&output, "output", "", "file with a JSON Schema of its result (default: as the run's result was)")
	return cmd
}

// readSchema reads a file of JSON; nil for "".
func readSchema(path string) (json.RawMessage, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.New(fault.BadRequest, "%s cannot be read: %w", path, fault.Plain(err))
	}
	if !json.Valid(data) {
		return nil, fault.New(fault.BadRequest, "%s is not JSON", path)
	}
	return data, nil
}

func (c *command) deleteRecipe() *cobra.Command {
	var flags askFlags
	cmd := &cobra.Command{
		Use: "delete NAME", Short: "Delete a recipe", Args: takes(1, 1, "the name of a recipe"),
		Example: `  toolfit recipes delete paid-orders`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r := request{method: http.MethodDelete, path: "/recipes/" + url.PathEscape(args[0])}
			return askFor(c, cmd, flags, "deleting the recipe", r, func(_ *gateway, answer struct {
				ID string `json:"deleted"`
			}) error {
				return c.printf(nil, "deleted %s\n", answer.ID)
			})
		},
	}
	flags.addGateway(cmd)
	return cmd
}
