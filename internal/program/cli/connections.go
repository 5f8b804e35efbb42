package cli

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

func (c *command) connectionsCmd() *cobra.Command {
	var flags askFlags
	var all bool
	cmd := &cobra.Command{
		Use: "connections", Short: "List the servers that need a sign-in, and whether you are signed in", Args: noArguments,
		Example: `  toolfit connections
  toolfit connections --all`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				found, err := g.connections(cmd.Context(), all)
				if err != nil {
					return err
				}
				return c.show(map[string]any{"connections": found}, func() error { return c.printConnections(found) })
			})
		},
	}
	flags.addGateway(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "those of everybody (admin only)")
	cmd.AddCommand(c.setValue(), c.unsetValue())
	return cmd
}

func (g *gateway) connections(ctx context.Context, all bool) ([]restapi.Connection, error) {
	var answer struct{ Connections []restapi.Connection }
	r := request{path: "/connections"}
	if all {
		r.query = url.Values{"all": {"true"}}
	}
	err := g.do(ctx, r, &answer)
	return answer.Connections, err
}

func (c *command) printConnections(found []restapi.Connection) error {
	t := terminal.Table{
		Head: []string{"SERVER", "WHOSE", "STATE", "LAST RENEWAL", "REASON"},
		None: "no server needs a sign-in; a server gets here by: oauth: {as: user}",
	}
	for _, one := range found {
		renewed := "-"
		if !one.Updated.IsZero() {
			renewed = one.Updated.Local().Format(time.DateTime)
		}
		state := map[string]string{"ready": "connected", "needs_login": "sign in again", "none": "not signed in"}[one.State]
		whose := cmp.Or(one.Owner, c.word("the gateway"))
		if one.Name != "" {
			whose = one.Name + " (" + one.Owner + ")"
		}
		reason := c.translate(one.Reason)
		if one.Removed {
			reason = c.lang.Sprintf("nobody signs in to this server any more; remove it with: %s", signOutCommand(one))
		}
		t.Row(string(one.Server), whose, c.word(cmp.Or(state, one.State)), renewed, reason)
	}
	return c.print(&t)
}

// signOutCommand is the command line that ends a connection of anybody.
func signOutCommand(one restapi.Connection) string {
	line := "toolfit logout " + string(one.Server)
	if one.Owner != "" {
		line += " --owner " + one.Owner
	}
	return line
}

func (c *command) logout() *cobra.Command {
	var flags askFlags
	var owner string
	cmd := &cobra.Command{
		Use: "logout SERVER", Short: "Sign out of a server, and revoke the tokens there", Args: takes(1, 1, "the name of a server"),
		Example: `  toolfit logout github`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r := request{method: http.MethodDelete, path: "/connections/" + url.PathEscape(args[0]), query: url.Values{}}
			if owner != "" {
				r.query.Set("owner", owner)
			}
			return askFor(c, cmd, flags, "signing out", r, func(*gateway, map[string]string) error {
				return c.printf(nil, "signed out of %s\n", args[0])
			})
		},
	}
	flags.addGateway(cmd)
	cmd.Flags().StringVar(&owner, "owner", "", "whom to sign out, by id (admin only; default: yourself, or the gateway)")
	return cmd
}
