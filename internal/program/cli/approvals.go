package cli

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

func (c *command) approvals() *cobra.Command {
	var flags askFlags
	var all bool
	cmd := &cobra.Command{
		Use: "approvals", Short: "List calls that wait for somebody's approval, and decide about them", Args: noArguments,
		Example: `  toolfit approvals
  toolfit approvals --all --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := request{path: "/approvals", query: url.Values{}}
			if !all {
				r.query.Set("open", "true")
			}
			type list struct {
				Approvals []restapi.Approval `json:"approvals"`
			}
			return askFor(c, cmd, flags, "listing approvals", r, func(_ *gateway, found list) error { return c.printApprovals(found.Approvals) })
		},
	}
	flags.addGateway(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "those that are decided or expired, too")
	cmd.AddCommand(c.showApproval(), c.decideApproval("approve", "Let a call be made, once, with exactly its arguments"),
		c.decideApproval("deny", "Refuse a call"))
	return cmd
}

func (c *command) printApprovals(found []restapi.Approval) error {
	t := terminal.Table{Head: []string{"ID", "TOOL", "WHO", "RULES", "STATE", "ASKED"}, None: "no call waits for an approval"}
	for _, a := range found {
		t.Row(a.ID, string(a.Tool), a.Name, ruleNames(a), c.word(a.State), a.Created.Local().Format(time.DateTime))
	}
	return c.print(&t)
}

func ruleNames(a restapi.Approval) string {
	var names []string
	for _, r := range a.Rules {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}

func (c *command) showApproval() *cobra.Command {
	var flags askFlags
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show who wants to call what, with which arguments, and which rule asks",
		Example: `  toolfit approvals show UE7CKN2VQ4XWB6TD`,
		Args:    takes(1, 1, "the id of a question"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := request{path: "/approvals/" + url.PathEscape(args[0])}
			return askFor(c, cmd, flags, "reading the question", r, func(_ *gateway, a restapi.Approval) error { return c.printApproval(a) })
		},
	}
	flags.addGateway(cmd)
	return cmd
}

func (c *command) printApproval(a restapi.Approval) error {
	var arguments strings.Builder
	if err := printJSON(&arguments, a.Arguments); err != nil {
		return err
	}
	t := terminal.Table{}
	t.Row(c.word("tool"), string(a.Tool))
	t.Row(c.word("who"), a.Name+" ("+a.Kind+")")
	for _, r := range a.Rules {
		t.Row(c.word("rule"), strings.TrimSuffix(r.Name+": "+r.Say, ": "))
	}
	t.Row(c.word("state"), c.word(a.State))
	if a.By != "" {
		t.Row(c.word("decided by"), strings.TrimSuffix(a.By+": "+a.Reason, ": "))
	}
	t.Row(c.word("expires"), a.Expires.Local().Format(time.DateTime))
	t.Row(c.word("page"), a.Page)
	if err := c.print(&t); err != nil {
		return err
	}
	return c.printf(nil, "arguments:\n%s", visible.Text(arguments.String()))
}

// decideApproval is the command that approves or denies.
func (c *command) decideApproval(verb, short string) *cobra.Command {
	var flags askFlags
	var reason string
	cmd := &cobra.Command{
		Use: verb + " ID", Short: short, Args: takes(1, 1, "the id of a question"),
		Example: "  toolfit approvals " + verb + " UE7CKN2VQ4XWB6TD --reason 'asked for by the owner'",
		RunE: func(cmd *cobra.Command, args []string) error {
			body, err := json.Marshal(map[string]string{"decision": verb, "reason": reason})
			if err != nil {
				return err
			}
			r := request{method: http.MethodPost, path: "/approvals/" + url.PathEscape(args[0]), body: body}
			return askFor(c, cmd, flags, "deciding", r, func(_ *gateway, a restapi.Approval) error {
				return c.printf(nil, "%s: %s of %s by %s\n", c.word(a.State), a.ID, a.Tool, a.Name)
			})
		},
	}
	flags.addGateway(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why; the caller sees it if you deny")
	return cmd
}
