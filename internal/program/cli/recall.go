package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

func (c *command) recall() *cobra.Command {
	var flags askFlags
	var ask recallQuestion
	cmd := &cobra.Command{
		Use:   "recall KN AT",
		Short: "Show the tool that action recall returns for an action type",
		Long:  "Show the tool that action recall returns for an action type (AT) of a knowledge network (KN). --json prints the whole answer.",
		Example: `  toolfit recall shop show_category
  toolfit recall shop show_category --instance '{"id": 7}' --account user:alice --json`,
		Args: takes(2, 2, "the ids of a knowledge network and an action type"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ask.network = args[0]
			ask.action = args[1]
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				done := c.waiting("looking up the action")
				defer done()
				answer, err := g.recall(cmd.Context(), ask)
				done()
				if err != nil {
					return err
				}
				return c.printRecalled(ask, answer)
			})
		},
	}
	flags.addGateway(cmd)
	cmd.Flags().StringArrayVar(&ask.instances, "instance", nil, `object to act on, as JSON, such as '{"id": 7}'; can be repeated`)
	cmd.Flags().StringVar(&ask.account, "account", "", "account to ask for, as TYPE:ID with TYPE user, app or anonymous (default: anonymous)")
	return cmd
}

type recallQuestion struct {
	network, action string
	instances       []string
	account         string // TYPE:ID
}

func (g *gateway) recall(ctx context.Context, ask recallQuestion) ([]byte, error) {
	header := http.Header{"Content-Type": {"application/json"}}
	if ask.account != "" {
		kind, id, ok := strings.Cut(ask.account, ":")
		if !ok || kind == "" || id == "" {
			return nil, usage("--account %q: expected TYPE:ID, such as user:alice", ask.account)
		}
		header.Set("X-Account-Type", kind)
		header.Set("X-Account-Id", id)
	}
	instances := []json.RawMessage{}
	for _, text := range ask.instances {
		if err := rawjson.Check([]byte(text)); err != nil {
			return nil, usage("--instance: %v", err)
		}
		instances = append(instances, json.RawMessage(text))
	}
	body, err := json.Marshal(map[string]any{"kn_id": ask.network, "at_id": ask.action, "_instance_identities": instances})
	if err != nil {
		return nil, err
	}
	status, data, err := g.send(ctx, http.MethodPost, g.base+"/api/agent-retrieval/in/v1/kn/get_action_info", header, body)
	if err == nil && status != http.StatusOK {
		err = recallError(g.base, status, data)
	}
	return data, err
}

func recallError(base string, status int, data []byte) error {
	var body struct {
		Description, Solution string
		Details               json.RawMessage
	}
	if err := json.Unmarshal(data, &body); err != nil || body.Description == "" {
		return answerError(base, status, data)
	}
	code := map[int]fault.Code{
		http.StatusBadRequest: fault.BadRequest, http.StatusUnauthorized: fault.Unauthorized, http.StatusForbidden: fault.Forbidden,
		http.StatusNotFound: fault.NotFound, http.StatusTooManyRequests: fault.RateLimited, http.StatusBadGateway: fault.UpstreamError,
	}[status]
	f := fault.New(cmp.Or(code, fault.Internal), "HTTP %d: %s %s", status, body.Description, body.Details).WithHint("%s", body.Solution)
	f.Details = body.Details
	return f
}

func (c *command) printRecalled(ask recallQuestion, answer []byte) error {
	var info struct {
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
			Strict      bool            `json:"strict"`
			URL         string          `json:"api_url"`
			Fixed       json.RawMessage `json:"fixed_params"`
		} `json:"_dynamic_tools"`
	}
	if c.json {
		return c.printJSON(json.RawMessage(answer))
	}
	if err := json.Unmarshal(answer, &info); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if len(info.Tools) == 0 {
		err := c.say("no tool for %s of %s\n", line(ask.action), line(ask.network))
		return err
	}
	for _, t := range info.Tools {
		var head terminal.Table
		head.Row(c.word("name"), t.Name)
		head.Row(c.word("description"), t.Description)
		head.Row("api_url", t.URL)
		head.Row("fixed_params", string(t.Fixed))
		if t.Strict {
			head.Row("strict", "true")
		}
		if err := c.print(&head); err != nil {
			return err
		}
		parameters := terminal.Table{Head: []string{"parameter", "type", "", "description"}, None: "no parameters"}
		c.addSchema(&parameters, "", t.Parameters)
		fmt.Fprintln(c.env.Out)
		if err := c.print(&parameters); err != nil {
			return err
		}
	}
	return nil
}

// addSchema adds a row for each property of a schema, at any depth.
func (c *command) addSchema(t *terminal.Table, above string, schema json.RawMessage) {
	needed := map[string]bool{}
	for w := rawjson.Array(rawjson.Get(schema, "required")); w.Next(); {
		name, _ := rawjson.String(w.Value)
		needed[name] = true
	}
	for w := rawjson.Object(rawjson.Get(schema, "properties")); w.Next(); {
		name := above + string(w.Key)
		need := ""
		if needed[string(w.Key)] {
			need = c.word("required")
		}
		text, _ := rawjson.String(rawjson.Get(w.Value, "description"))
		t.Row(name, typeWords(w.Value), need, firstSentence(text))
		c.addSchema(t, name+".", w.Value)
		c.addSchema(t, name+"[].", rawjson.Get(w.Value, "items"))
	}
}

func typeWords(schema json.RawMessage) string {
	kind := rawjson.Get(schema, "type")
	if word, ok := rawjson.String(kind); ok {
		return word
	}
	var words []string
	for w := rawjson.Array(kind); w.Next(); {
		word, _ := rawjson.String(w.Value)
		words = append(words, word)
	}
	return cmp.Or(strings.Join(words, "|"), "any")
}
