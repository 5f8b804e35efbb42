package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

func (c *command) keys() *cobra.Command {
	cmd := &cobra.Command{
		Use: "keys", Short: "Create, list and delete keys", Args: exactly(0, "one of create, list and delete"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.createKey(), c.listKeys(), c.deleteKey())
	return cmd
}

// withStore runs f with the configured store. A running gateway sees the change within seconds.
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
	err = f(cfg, st)
	if closeErr := st.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (c *command) createKey() *cobra.Command {
	var profile, role string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a key and print it, once", Args: exactly(1, "a name for the key"),
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
	cmd.Flags().StringVar(&profile, "profile", config.DefaultProfile, "the one profile that the key may use; '*' for all (admin)")
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
		WithHint("there are: %s; others are made under profiles", strings.Join(names, ", "))
}

func (c *command) listKeys() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the keys", Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withStore(cmd.Context(), func(_ *config.Config, st *store.Store) error {
				keys, err := st.Keys(cmd.Context())
				if err != nil {
					return err
				}
				if c.json {
					return c.printJSON(map[string]any{"keys": showKeys(keys)})
				}
				if len(keys) == 0 {
					_, err := fmt.Fprintln(c.env.Out, "no keys; make one with: toolfit keys create NAME")
					return err
				}
				var t table
				t.row("ID", "NAME", "ROLE", "PROFILE", "CREATED")
				for _, k := range keys {
					t.row(k.ID, k.Name, k.Role, k.Profile, k.CreatedAt.Local().Format(time.DateOnly))
				}
				return t.print(c.env.Out)
			})
		},
	}
}

// shownKey is a key without what could open anything.
type shownKey struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	Profile string    `json:"profile"`
	Created time.Time `json:"created_at"`
}

func showKeys(keys []store.Key) []shownKey {
	shown := []shownKey{}
	for _, k := range keys {
		shown = append(shown, shownKey{k.ID, k.Name, k.Role, k.Profile, k.CreatedAt})
	}
	return shown
}

func (c *command) deleteKey() *cobra.Command {
	return &cobra.Command{
		Use: "delete ID-OR-NAME", Short: "Delete a key", Args: exactly(1, "the id or name of a key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withStore(cmd.Context(), func(_ *config.Config, st *store.Store) error {
				if err := st.DeleteKey(cmd.Context(), args[0]); err != nil {
					return err
				}
				if c.json {
					return c.printJSON(map[string]string{"deleted": args[0]})
				}
				_, err := fmt.Fprintf(c.env.Out, "deleted %s\n", args[0])
				return err
			})
		},
	}
}
