package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

func (c *command) keys() *cobra.Command {
	cmd := &cobra.Command{
		Use: "keys", Short: "Create, list and delete keys", Args: takes(0, 0, "one of create, list and delete"), RunE: help,
	}
	cmd.AddCommand(c.createKey(), c.listKeys(), c.deleteKey())
	return cmd
}

// withStore calls f with the configured store. A running gateway sees changes within seconds.
func (c *command) withStore(ctx context.Context, f func(*config.Config, *store.Store) error) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if err := c.makeStateFolder(cfg); err != nil {
		return err
	}
	st, err := store.Open(ctx, cfg.Store, nil)
	if err != nil {
		return err
	}
	return errors.Join(f(cfg, st), st.Close())
}

func (c *command) createKey() *cobra.Command {
	var profile, role string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a key and print it once", Args: takes(1, 1, "a name for the key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := access.ParseRole(role)
			if err != nil {
				return usageError{err}
			}
			return c.withStore(cmd.Context(), func(cfg *config.Config, st *store.Store) error {
				if err := checkProfile(cfg, profile, r); err != nil {
					return err
				}
				text, row, err := access.NewKey(args[0], profile, r, rand.Reader)
				if err != nil {
					return err
				}
				row.CreatedAt = time.Now()
				if err := st.CreateKey(cmd.Context(), row); err != nil {
					return err
				}
				if c.json {
					return c.printJSON(map[string]string{"id": row.ID, "name": row.Name, "profile": row.Profile, "role": row.Role, "key": text})
				}
				fmt.Fprintln(c.env.Out, text)
				fmt.Fprintf(c.env.Err, "This is the only time the key is shown. Send it as: Authorization: Bearer %s…\n", text[:12])
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&profile, "profile", config.DefaultProfile, "profile that the key may use; '*' for all (admin only)")
	cmd.Flags().StringVar(&role, "role", string(access.Caller), "caller, viewer or admin")
	return cmd
}

func checkProfile(cfg *config.Config, profile string, role access.Role) error {
	if profile == access.AnyProfile {
		if role != access.Admin {
			return fault.New(fault.BadRequest, "only an admin key may use all profiles").WithHint("add --role admin, or name one profile")
		}
		return nil
	}
	var names []string
	for _, p := range cfg.Profiles {
		if p.Name == profile {
			return nil
		}
		names = append(names, p.Name)
	}
	return fault.New(fault.NotFound, "there is no profile %q in %s", profile, cfg.Path).
		WithHint("available: %s; add others under profiles:", strings.Join(names, ", "))
}

func (c *command) listKeys() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the keys", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withStore(cmd.Context(), func(_ *config.Config, st *store.Store) error {
				keys, err := st.Keys(cmd.Context())
				if err != nil {
					return err
				}
				shown := []shownKey{}
				t := terminal.Table{Head: []string{"ID", "NAME", "ROLE", "PROFILE", "CREATED"},
					None: "no keys; create one with: toolfit keys create NAME"}
				for _, k := range keys {
					shown = append(shown, shownKey{k.ID, k.Name, k.Role, k.Profile, k.CreatedAt})
					t.Row(k.ID, k.Name, k.Role, k.Profile, k.CreatedAt.Local().Format(time.DateOnly))
				}
				return c.show(map[string]any{"keys": shown}, func() error { return t.Print(c.env.Out) })
			})
		},
	}
}

type shownKey struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	Profile string    `json:"profile"`
	Created time.Time `json:"created_at"`
}

func (c *command) deleteKey() *cobra.Command {
	return &cobra.Command{
		Use: "delete ID-OR-NAME", Short: "Delete a key", Args: takes(1, 1, "the id or name of a key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withStore(cmd.Context(), func(_ *config.Config, st *store.Store) error {
				if err := st.DeleteKey(cmd.Context(), args[0]); err != nil {
					return err
				}
				return c.printf(map[string]string{"deleted": args[0]}, "deleted %s\n", args[0])
			})
		},
	}
}
