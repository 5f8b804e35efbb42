package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// asUser makes changes in the name of the user who runs the command.
func asUser(ctx context.Context) context.Context {
	who := access.Owner().Actor()
	if u, err := user.Current(); err == nil {
		who.Name = u.Username
	}
	return store.As(ctx, who)
}

func (c *command) audit() *cobra.Command {
	var since string
	var f store.AuditFilter
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "List who changed what; verify and export the log",
		Example: `  toolfit audit --since 24h --what key
  toolfit audit verify
  toolfit audit export > audit.jsonl`,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if f.Since, err = parseTime("--since", since, time.Now()); err != nil {
				return err
			}
			if f.Limit < 1 || f.Limit > 1000 {
				return usage("--limit must be from 1 to 1000")
			}
			return c.withStore(cmd.Context(), func(_ *config.Config, st *store.Store) error {
				records, err := st.AuditRecords(cmd.Context(), f)
				if err != nil {
					return err
				}
				t := terminal.Table{Head: []string{"SEQ", "TIME", "ACTOR", "ACTION", "SUBJECT"}, None: "no changes"}
				for _, r := range records {
					t.Row(fmt.Sprint(r.Seq), r.At.Local().Format(time.DateTime), r.Actor.String(), r.Action, r.Subject)
				}
				page := restapi.AuditPage{Records: append([]store.AuditRecord{}, records...)}
				return c.show(page, func() error { return c.print(&t) })
			})
		},
	}
	cmd.Flags().StringVar(&since, "since", "", sinceHelp)
	cmd.Flags().StringVar(&f.Actor, "actor", "", "only changes by this kind of actor, id or name")
	cmd.Flags().StringVar(&f.What, "what", "", "only this action (key.create), group of actions (key) or subject")
	cmd.Flags().IntVar(&f.Limit, "limit", 100, "maximum number, up to 1000")
	cmd.AddCommand(c.verifyAudit(), c.exportAudit())
	return cmd
}

func (c *command) verifyAudit() *cobra.Command {
	return &cobra.Command{
		Use: "verify", Short: "Check that no record was changed, removed or added by somebody else", Args: noArguments,
		Example: `  toolfit audit verify`,
		Long: "Check that no record was changed, removed or added by somebody else. A sealed log needs the TOOLFIT_SECRET_KEY of the\n" +
			"gateway, and after a change of the key the older ones, too: NEW,OLD.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withStore(cmd.Context(), func(_ *config.Config, st *store.Store) error {
				check, err := st.VerifyAudit(cmd.Context())
				if err != nil {
					return err
				}
				if err := c.show(check, func() error { return c.printAudit(check) }); err != nil || len(check.Problems) == 0 {
					return err
				}
				return errSilent
			})
		},
	}
}

func (c *command) printAudit(check store.AuditCheck) error {
	if len(check.Problems) > 0 {
		c.tell("toolfit: the audit log does not verify:\n  %s\n", c.translate(strings.Join(check.Problems, "\n  ")))
		return nil
	}
	sealed := ""
	if check.Sealed > 0 {
		sealed = c.lang.Sprintf(", sealed from number %d on", check.Sealed)
	}
	c.say("the audit log is as it was written: %s%s\n", c.count(int(check.Last-check.First+1), "record"), sealed)
	if check.Sealed == 0 {
		c.tell("The log is not sealed: who can write the store can rewrite it. Set TOOLFIT_SECRET_KEY.\n")
	}
	return nil
}

func (c *command) exportAudit() *cobra.Command {
	return &cobra.Command{
		Use: "export", Short: "Print the whole log, one JSON record a line, oldest first", Args: noArguments,
		Example: `  toolfit audit export > audit.jsonl`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withStore(cmd.Context(), func(_ *config.Config, st *store.Store) error {
				out := json.NewEncoder(c.wire) // unfiltered: the hashes are of these very bytes
				for after := int64(0); ; {
					records, err := st.AuditAfter(cmd.Context(), after, 1000)
					if err != nil || len(records) == 0 {
						return err
					}
					for _, r := range records {
						if err := out.Encode(r); err != nil {
							return err
						}
						after = r.Seq
					}
				}
			})
		},
	}
}
