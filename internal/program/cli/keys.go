package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/oauth"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

func (c *command) keys() *cobra.Command {
	cmd := &cobra.Command{
		Use: "keys", Short: "Create, list, rotate and delete keys", RunE: help,
		Example: `  toolfit keys list
  toolfit keys create ci --profile work --expires 90d`,
		Args: takes(0, 0, "one of create, list, rotate, delete and generate"),
	}
	cmd.AddCommand(c.createKey(), c.listKeys(), c.rotateKey(), c.deleteKey(), c.generateKey())
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
	key, _ := app.SecretKey(c.env.Lookup) // without one, nothing that is sealed is read
	st, err := store.Open(ctx, cfg.Store, &store.Options{SecretKey: key})
	if err != nil {
		return err
	}
	return errors.Join(f(cfg, st), st.Close())
}

func (c *command) createKey() *cobra.Command {
	var profiles []string
	var role, expires string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a key and print it once", Args: takes(1, 1, "a name for the key"),
		Example: `  toolfit keys create ci
  toolfit keys create ci --profile work --expires 90d
  toolfit keys create ops --role admin --profile '*'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := access.ParseRole(role)
			if err != nil {
				return usageError{err}
			}
			if len(profiles) == 0 {
				return usage("--profile names no profile")
			}
			return c.withStore(cmd.Context(), func(cfg *config.Config, st *store.Store) error {
				for _, p := range profiles {
					if err := checkProfile(cfg, p, r); err != nil {
						return err
					}
				}
				text, row, err := access.NewKey(args[0], strings.Join(profiles, ","), r, nil)
				if err != nil {
					return err
				}
				row.CreatedAt = time.Now()
				row.ExpiresAt, err = access.ParseExpiry(expires, row.CreatedAt)
				if err != nil {
					return err
				}
				if err := st.CreateKey(asUser(cmd.Context()), row); err != nil {
					return err
				}
				return c.printKey(text, row)
			})
		},
	}
	cmd.Flags().StringSliceVar(&profiles, "profile", []string{config.DefaultProfile},
		"profile that the key may use, several with commas or repeated: the first is served at /mcp; '*' for all (admin only)")
	cmd.Flags().StringVar(&role, "role", string(access.Caller), "caller, viewer or admin")
	cmd.Flags().StringVar(&expires, "expires", "never", "when it ends: 90d or 12h from now, a last day (2027-01-31), a time, or never")
	return cmd
}

// printKey prints the text of a key, which nobody will see again.
func (c *command) printKey(text string, row store.Key) error {
	if c.json {
		return c.printJSON(restapi.NewKey{Key: restapi.ShowKey(row), Text: text})
	}
	fmt.Fprintln(c.env.Out, text)
	c.tell("This is the only time the key is shown. Send it as: Authorization: Bearer %s…\n", text[:12])
	return nil
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

func (c *command) generateKey() *cobra.Command {
	return &cobra.Command{
		Use: "generate", Short: "Print a new text for " + access.AdminKeyVariable + "; nothing is stored", Args: noArguments,
		Example: `  toolfit keys generate`,
		RunE: func(*cobra.Command, []string) error {
			text, err := access.NewText()
			if err != nil {
				return err
			}
			return c.printf(map[string]string{"key": text}, "%s\n", text)
		},
	}
}

func (c *command) rotateKey() *cobra.Command {
	var how access.Rotation
	cmd := &cobra.Command{
		Use: "rotate ID-OR-NAME", Short: "Make a new secret for a key and print it once", Args: takes(1, 1, "the id or name of a key"),
		Long: "Make a new secret for a key and print it once. The key's id stays, and with it its sessions, records and results.\n" +
			"The old secret works until the overlap ends. Rotating again ends the oldest secret.",
		Example: "  toolfit keys rotate ci\n  toolfit keys rotate ci --overlap 0   # the old one has leaked",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withStore(cmd.Context(), func(_ *config.Config, st *store.Store) error {
				k, err := st.Key(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				text, row, err := access.Rotate(k, how, time.Now(), nil)
				if err != nil {
					return err
				}
				if err := st.RotateKey(asUser(cmd.Context()), row, k.Hash); err != nil {
					return err
				}
				if err := c.printKey(text, row); err != nil || c.json {
					return err
				}
				if row.OldUntil.IsZero() {
					c.tell("The old secret of %s ends %s.\n", row.Name, c.word(withinASecond))
				} else {
					c.tell("The old secret of %s works until %s.\n", row.Name, row.OldUntil.Local().Format(time.DateTime))
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&how.Overlap, "overlap", access.DefaultOverlap, "how long the old secret works on; 0 ends it at once")
	cmd.Flags().StringVar(&how.Expires, "expires", "", "when the key ends: 90d, a last day (2027-01-31) or never (default: as before)")
	return cmd
}

// withinASecond is when running gateways know of a change. One that is cut off from the store cannot.
const withinASecond = "within a second at every gateway that reaches the store"

func (c *command) listKeys() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the keys", Args: noArguments,
		Example: `  toolfit keys list`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withStore(cmd.Context(), func(_ *config.Config, st *store.Store) error {
				keys, err := st.Keys(cmd.Context())
				if err != nil {
					return err
				}
				shown := []restapi.Key{}
				t := terminal.Table{Head: []string{"ID", "NAME", "ROLE", "PROFILE", "CREATED", "EXPIRES", "LAST USE"},
					None: "no keys; create one with: toolfit keys create NAME"}
				for _, row := range keys {
					k := restapi.ShowKey(row)
					shown = append(shown, k)
					t.Row(k.ID, k.Name, k.Role, row.Profile, k.Created.Local().Format(time.DateOnly), c.expiry(k), lastUse(k))
				}
				return c.show(map[string]any{"keys": shown}, func() error { return c.print(&t) })
			})
		},
	}
}

const toTheMinute = "2006-01-02 15:04"

func (c *command) expiry(k restapi.Key) string {
	at := k.Expires.Local().Format(toTheMinute)
	switch {
	case k.Expires.IsZero():
		return c.word("never")
	case k.HasExpired():
		return c.lang.Sprintf("expired %s", at)
	}
	return at
}

func lastUse(k restapi.Key) string {
	if k.Used.IsZero() {
		return "-"
	}
	return k.Used.Local().Format(toTheMinute)
}

func (c *command) deleteKey() *cobra.Command {
	return &cobra.Command{
		Use: "delete ID-OR-NAME", Short: "Delete a key", Args: takes(1, 1, "the id or name of a key"),
		Example: `  toolfit keys delete ci`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withStore(cmd.Context(), func(cfg *config.Config, st *store.Store) error {
				k, err := st.Key(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				ended, err := st.DeleteKey(asUser(cmd.Context()), k.ID)
				if err != nil {
					return err
				}
				oauth.New(oauth.Options{Store: st, Server: cfg.ServerNamed}).Deleted(ended)
				if warning := restapi.ComesBack(k); warning != "" {
					fmt.Fprintln(c.env.Err, c.translate(warning))
				}
				return c.printf(map[string]string{"deleted": args[0]}, "deleted %s; it is refused %s\n", args[0], c.word(withinASecond))
			})
		},
	}
}
