package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/identity"
	"github.com/toolfit/toolfit/internal/state/store"
)

func (c *command) auth() *cobra.Command {
	cmd := &cobra.Command{Use: "auth", Short: "Explain what tokens of identity providers allow", Args: takes(0, 0, "explain"), RunE: help,
		Example: "  toolfit auth explain - < token.txt"}
	cmd.AddCommand(c.explainToken())
	return cmd
}

// maxTokenInput is more than any token has.
const maxTokenInput = 64 << 10

func (c *command) explainToken() *cobra.Command {
	var profile string
	cmd := &cobra.Command{
		Use: "explain -", Short: "Check a token from standard input: each check, each mapping, and the rights",
		Long: "Check a token as the gateway would. Show each check, each mapping that was tried, and the rights.\n" +
			"The token is read from standard input, so that no list of processes shows it.",
		Example: "  pbpaste | toolfit auth explain -",
		Args:    takes(1, 1, "- (the token comes from standard input)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "-" {
				return usage("the token must come from standard input, because others can read arguments: toolfit auth explain - < FILE")
			}
			cfg, err := c.load()
			if err != nil {
				return err
			}
			if len(cfg.Identity) == 0 {
				return fault.New(fault.BadConfig, "%s has no identity providers", cfg.Path).WithHint("add identity to it; see docs/identity.md")
			}
			token, err := c.readToken()
			if err != nil {
				return err
			}
			if profile != "" && !slices.ContainsFunc(cfg.Profiles, func(p config.Profile) bool { return p.Name == profile }) {
				return fault.New(fault.NotFound, "there is no profile %q", profile)
			}
			v := identity.New(cfg.Identity, &identity.Options{Base: strings.TrimRight(cfg.PublicURL, "/") + "/mcp"})
			r := v.Explain(cmd.Context(), token, profile)
			if err := c.checkPerson(cmd.Context(), cfg, r); err != nil {
				return err
			}
			return c.showReport(r)
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "", "profile that the token is for, as in /mcp/PROFILE (default: /mcp)")
	return cmd
}

// checkPerson adds to the report whether somebody is disabled. Without a store, nobody is.
func (c *command) checkPerson(ctx context.Context, cfg *config.Config, r *identity.Report) error {
	if _, err := os.Stat(cfg.Store); r.Who.ID == "" || err != nil && !strings.Contains(cfg.Store, "://") {
		return nil
	}
	return c.withStore(ctx, func(_ *config.Config, st *store.Store) error {
		p, err := st.Person(ctx, r.Who.ID)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err == nil && !p.DisabledAt.IsZero() {
			since := p.DisabledAt.Local().Format(time.DateTime)
			r.Refuse("person", errors.New("disabled since "+since+"; to let them in: toolfit people enable "+p.ID))
		}
		return err
	})
}

// ownCredential is how our own keys, secrets and tokens begin.
var ownCredential = regexp.MustCompile(`^tf[a-z]*_`)

func (c *command) readToken() (string, error) {
	text, err := io.ReadAll(io.LimitReader(c.env.In, maxTokenInput))
	token := strings.TrimPrefix(string(bytes.TrimSpace(text)), "Bearer ")
	switch {
	case err != nil:
		return "", err
	case token == "":
		return "", usage("there is no token on standard input")
	case ownCredential.MatchString(token):
		return "", usage("this is a key or token of toolfit itself, not one from elsewhere")
	}
	return token, nil
}

// shownStep is a check as JSON.
type shownStep struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	Said  string `json:"said"`
}

func (c *command) showReport(r *identity.Report) error {
	steps := []shownStep{}
	t := terminal.Table{Wraps: true}
	refused := ""
	for _, s := range r.Steps {
		step := shownStep{s.Name, s.Err == nil, s.Said}
		mark := "ok"
		switch {
		case s.Skipped:
			mark = "-"
			step.OK = false
		case s.Err != nil:
			mark = "no"
			step.Said = s.Err.Error()
			refused = s.Name
		}
		steps = append(steps, step)
		t.Row(c.word(mark), c.word(step.Check), c.translate(step.Said))
	}
	err := c.show(map[string]any{"steps": steps, "admitted": refused == ""}, func() error { return c.print(&t) })
	if err == nil && refused != "" {
		err = fault.New(fault.Unauthorized, "the token is refused (%s)", refused)
	}
	return err
}
