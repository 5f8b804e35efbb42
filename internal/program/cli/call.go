package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

func (c *command) call() *cobra.Command {
	var flags askFlags
	var whole string
	var explain bool
	cmd := &cobra.Command{
		Use:   "call TOOL [KEY=VALUE | KEY:=JSON …]",
		Short: "Call a tool",
		Long:  "Call a tool. KEY=VALUE takes the value as the tool's schema wants it; KEY:=JSON takes it as JSON.",
		Example: `  toolfit call files__read_text_file path=README.md
  toolfit call shop__list_orders --args '{"status":"paid"}'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("call takes the name of a tool; see: toolfit tools")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				done := c.waiting("waiting for the tool")
				defer done()
				t, err := g.tool(cmd, flags, args[0])
				if fault.Is(err, fault.UnknownTool) {
					t, err = restapi.Tool{Name: args[0]}, nil // it may be another version's name for a tool: the call will tell
				}
				if err != nil {
					return err
				}
				body, err := c.arguments(t, whole, args[1:])
				if err != nil {
					return err
				}
				var answer restapi.CallAnswer
				if err := g.do(cmd.Context(), http.MethodPost, "/tools/"+url.PathEscape(t.Name)+"/call", flags.query(), body, &answer); err != nil {
					return err
				}
				done()
				if explain && !c.json {
					c.explainFitted(answer.Fitted)
				}
				return c.printResult(answer)
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&explain, "explain", false, "say what was changed in the arguments to make them fit")
	cmd.Flags().StringVar(&whole, "args", "", "all arguments as one JSON object; @FILE reads a file, - reads standard input")
	return cmd
}

// arguments makes the JSON object of arguments from what was given.
func (c *command) arguments(t restapi.Tool, whole string, words []string) ([]byte, error) {
	if whole != "" {
		if len(words) > 0 {
			return nil, usage("give arguments as words or by --args, not both")
		}
		return c.wholeArguments(whole)
	}
	types := properties(t.Definition)
	out := []byte{'{'}
	for i, word := range words {
		key, value, err := parseWord(word, types)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(rawjson.AppendString(out, key), ':')
		out = append(out, value...)
	}
	return append(out, '}'), nil
}

func (c *command) wholeArguments(whole string) (data []byte, err error) {
	switch {
	case whole == "-":
		data, err = io.ReadAll(c.env.In)
	case strings.HasPrefix(whole, "@"):
		data, err = os.ReadFile(whole[1:])
	default:
		data = []byte(whole)
	}
	if err != nil {
		return nil, fmt.Errorf("read arguments: %w", err)
	}
	if err := rawjson.Check(data); err != nil {
		return nil, usage("--args: %v", err)
	}
	if !strings.HasPrefix(strings.TrimSpace(string(data)), "{") {
		return nil, usage("--args takes one JSON object, such as '{\"path\": \"a.txt\"}', and this is no object")
	}
	return data, nil
}

func parseWord(word string, types *jsonschema.Node) (key string, value []byte, err error) {
	key, text, ok := strings.Cut(word, "=")
	if strings.HasPrefix(word, "{") {
		return "", nil, usage("a whole object of arguments goes with --args: --args '%s'", word)
	}
	if !ok || key == "" {
		return "", nil, usage("%q is not of the form KEY=VALUE or KEY:=JSON", word)
	}
	if name, isJSON := strings.CutSuffix(key, ":"); isJSON {
		if err := rawjson.Check([]byte(text)); err != nil {
			return "", nil, usage("%s: %v", name, err)
		}
		return name, []byte(text), nil
	}
	if takesText(types, key) || rawjson.Check([]byte(text)) != nil {
		return key, rawjson.AppendString(nil, text), nil
	}
	return key, []byte(text), nil
}

// takesText tells whether a bare word is meant as text. Where the schema does not say so,
// a word that reads as JSON is JSON.
func takesText(types *jsonschema.Node, key string) bool {
	return slices.Contains(types.Get(key).Strings("type"), "string")
}

// explainFitted says on the other output what was changed in the arguments.
func (c *command) explainFitted(f *restapi.Fitted) {
	if f == nil {
		fmt.Fprintln(c.env.Err, "the arguments went out as they came")
		return
	}
	for _, r := range f.Repairs {
		field := r.Field
		if field == "" {
			field = "the arguments"
		}
		fmt.Fprintf(c.env.Err, "%s: %s: %s → %s\n", line(field), r.Kind, line(r.From), line(r.To))
	}
	fmt.Fprintf(c.env.Err, "the tool got %s\n", f.Arguments)
}

// printResult shows a result: its text as text, everything else by kind and size.
func (c *command) printResult(answer restapi.CallAnswer) error {
	var result struct {
		Content []struct {
			Type     string `json:"type"`
			Text     string `json:"text"`
			Data     string `json:"data"`
			MIMEType string `json:"mimeType"`
			URI      string `json:"uri"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
	err := json.Unmarshal(answer.Result, &result)
	if c.json || err != nil {
		if err := c.printJSON(answer); err != nil {
			return err
		}
	} else {
		for _, block := range result.Content {
			switch block.Type {
			case "text":
				fmt.Fprintln(c.env.Out, block.Text)
			case "resource_link":
				fmt.Fprintf(c.env.Out, "[%s %s]\n", line(block.Type), line(block.URI))
			default:
				fmt.Fprintf(c.env.Out, "[%s %s, %d bytes]\n", line(block.Type), line(block.MIMEType), len(block.Data)*3/4)
			}
		}
		if len(result.Content) == 0 && result.Structured != nil {
			if err := c.printJSON(result.Structured); err != nil {
				return err
			}
		}
	}
	if result.IsError {
		return errSilent
	}
	return nil
}
