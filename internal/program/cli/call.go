package cli

import (
	"cmp"
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
		Long:  "Call a tool. KEY=VALUE converts the value to the type in the tool's schema; KEY:=JSON takes it as JSON.",
		Example: `  toolfit call files__read_text_file path=README.md
  toolfit call shop__list_orders --args '{"status":"paid"}'`,
		Args: takes(1, -1, "the name of a tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				done := c.waiting("waiting for the tool")
				defer done()
				t, err := g.tool(cmd.Context(), flags, args[0])
				if fault.Is(err, fault.UnknownTool) {
					t = restapi.Tool{Name: args[0]} // may be its name in another version: the call will tell
					err = nil
				}
				if err != nil {
					return err
				}
				body, err := c.arguments(t, whole, args[1:])
				if err != nil {
					return err
				}
				var answer restapi.CallAnswer
				r := request{http.MethodPost, "/tools/" + url.PathEscape(t.Name) + "/call", flags.query(), body}
				if err := g.do(cmd.Context(), r, &answer); err != nil {
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
	cmd.Flags().BoolVar(&explain, "explain", false, "show how the arguments were repaired")
	cmd.Flags().StringVar(&whole, "args", "", "all arguments as a JSON object; @FILE reads a file, - standard input")
	return cmd
}

// arguments is the JSON object of arguments from --args or from words.
func (c *command) arguments(t restapi.Tool, whole string, words []string) ([]byte, error) {
	if whole != "" {
		if len(words) > 0 {
			return nil, usage("use either --args or KEY=VALUE arguments")
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
		return nil, usage("--args takes one JSON object, such as '{\"path\": \"a.txt\"}'")
	}
	return data, nil
}

func parseWord(word string, types *jsonschema.Node) (key string, value []byte, err error) {
	key, text, ok := strings.Cut(word, "=")
	if strings.HasPrefix(word, "{") {
		return "", nil, usage("pass a JSON object with --args: --args '%s'", word)
	}
	if !ok || key == "" {
		return "", nil, usage("%q: expected KEY=VALUE or KEY:=JSON", word)
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

// takesText tells whether the schema wants a string. Otherwise a value that is valid JSON is
// taken as JSON.
func takesText(types *jsonschema.Node, key string) bool {
	return slices.Contains(types.Get(key).Strings("type"), "string")
}

func (c *command) explainFitted(f *restapi.Fitted) {
	if f == nil {
		c.tell("the arguments were sent unchanged\n")
		return
	}
	for _, r := range f.Repairs {
		fmt.Fprintf(c.env.Err, "%s: %s: %s → %s\n", line(cmp.Or(r.Field, c.word("the arguments"))), r.Kind, line(r.From), line(r.To))
	}
	c.tell("the tool got %s\n", f.Arguments)
}

// printResult prints the text of a result, and type and size of other content.
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
				c.say("[%s %s, %d bytes]\n", line(block.Type), line(block.MIMEType), len(block.Data)*3/4)
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
