package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

func (c *command) people() *cobra.Command {
	cmd := &cobra.Command{
		Use: "people", Short: "List, disable and enable people who sign in with an identity provider",
		Example: `  toolfit people list
  toolfit people disable alice@example.com`,
		Args: takes(0, 0, "one of list, disable and enable"), RunE: help,
	}
	cmd.AddCommand(c.listPeople(),
		c.switchPerson("disable", "Keep somebody out, on every gateway within ten seconds", time.Now),
		c.switchPerson("enable", "Let somebody in again", func() time.Time { return time.Time{} }))
	return cmd
}

func (c *command) listPeople() *cobra.Command {
	return &cobra.Command{
		Use: "list [TEXT]", Short: "List those whose id, subject or name begins with a text; those seen last first",
		Example: `  toolfit people list
  toolfit people list ali`,
		Args: takes(0, 1, "how an id, a subject or a name begins"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := ""
			if len(args) > 0 {
				text = args[0]
			}
			return c.withStore(cmd.Context(), func(_ *config.Config, st *store.Store) error {
				rows, err := st.People(cmd.Context(), text, restapi.MaxPeople)
				if err != nil {
					return err
				}
				shown := []restapi.Person{}
				t := terminal.Table{Head: []string{"ID", "NAME", "ROLE", "PROFILE", "LAST SEEN", "STATE"}, None: "nobody has signed in yet"}
				for _, p := range rows {
					shown = append(shown, restapi.ShowPerson(p))
					t.Row(p.ID, p.Name, p.Role, p.Profile, p.SeenAt.Local().Format(time.DateTime), c.word(stateOf(p)))
				}
				return c.show(map[string]any{"people": shown}, func() error { return c.print(&t) })
			})
		},
	}
}

func stateOf(p store.Person) string {
	if p.DisabledAt.IsZero() {
		return "enabled"
	}
	return "disabled"
}

// switchPerson is the command that disables or enables: from the time on that at returns.
func (c *command) switchPerson(verb, short string, at func() time.Time) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ID-SUBJECT-OR-NAME", Short: short, Args: takes(1, 1, "the id, subject or name of a person"),
		Example: "  toolfit people " + verb + " alice@example.com",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withStore(cmd.Context(), func(_ *config.Config, st *store.Store) error {
				return c.setPerson(cmd.Context(), st, args[0], at())
			})
		},
	}
}

func (c *command) setPerson(ctx context.Context, st *store.Store, text string, disabled time.Time) error {
	p, err := st.DisablePerson(asUser(ctx), text, disabled)
	if err != nil {
		return err
	}
	if disabled.IsZero() {
		return c.printf(restapi.ShowPerson(p), "%s (%s) may come in again\n", p.Name, p.ID)
	}
	return c.printf(restapi.ShowPerson(p), "%s (%s) is out of every gateway within ten seconds\n", p.Name, p.ID)
}
