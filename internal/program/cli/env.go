package cli

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/base/fault"
)

// environment is the command env, for this gateway and for any other environment.
func (c *command) environment() *cobra.Command {
	cmd := &cobra.Command{
		Use: "env", Short: "Query an environment: this gateway, or any server with the environment protocol",
		Long: "Query an environment: its description, profiles, agents, logs and sessions.\n" +
			"Without --url and without a command it is the configured gateway.",
		Example: `  toolfit env describe
  toolfit env logs --level warn --since 1h
  toolfit env agents --url http://localhost:3000
  toolfit env sessions -- ./my-environment --some-flag`,
		Args: knownCommand, RunE: help,
	}
	cmd.AddCommand(c.envDescribe(), c.envProfiles(), c.envAgents(), c.envLogs(), c.envSessions())
	return cmd
}

func (c *command) envDescribe() *cobra.Command {
	return c.envCommand("describe", "Describe an environment and its capabilities", true, func(ask envAsk) envAnswer {
		d, err := ask.client.Description(ask.ctx)
		if errors.Is(err, env.ErrNotOffered) {
			err = fault.New(fault.NotFound, "%w", errNoEnvironment).WithHint("for a gateway: toolfit stdio --env")
		}
		return envAnswer{d, func() error { return c.printDescription(d) }, err}
	})
}

func (c *command) envProfiles() *cobra.Command {
	return c.envCommand("profiles [ID]", "List the profiles of an environment, or show one", true, func(ask envAsk) envAnswer {
		if ask.id != "" {
			p, err := ask.client.Profile(ask.ctx, ask.id)
			return envAnswer{p, func() error { return c.printProfiles([]env.Profile{p}) }, err}
		}
		all, err := ask.client.Profiles(ask.ctx)
		return envAnswer{map[string]any{"profiles": append([]env.Profile{}, all...)}, func() error { return c.printProfiles(all) }, err}
	})
}

func (c *command) envAgents() *cobra.Command {
	var role, profile string
	cmd := c.envCommand("agents [ID]", "List the agents of an environment, or show one", true, func(ask envAsk) envAnswer {
		if ask.id != "" {
			a, err := ask.client.Agent(ask.ctx, ask.id, profile)
			return envAnswer{a, func() error { return c.printAgents([]env.AgentSpec{a}) }, err}
		}
		all, err := ask.client.Agents(ask.ctx, env.Role(role), profile)
		return envAnswer{map[string]any{"agents": append([]env.AgentSpec{}, all...)}, func() error { return c.printAgents(all) }, err}
	})
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if role != "" && role != string(env.RolePrimary) && role != string(env.RoleSub) {
			return usage("--role %q: expected primary or sub", role)
		}
		return nil
	}
	cmd.Flags().StringVar(&role, "role", "", "only agents of this role: primary or sub")
	cmd.Flags().StringVar(&profile, "of", "", "only agents of this profile")
	return cmd
}

func (c *command) envLogs() *cobra.Command {
	var q env.LogQuery
	var level, since, until string
	cmd := c.envCommand("logs", "Show the log of an environment, newest last", false, func(ask envAsk) envAnswer {
		logs, err := ask.client.Logs(ask.ctx, q)
		return envAnswer{map[string]any{"logs": append([]env.LogEntry{}, logs...)}, func() error { return c.printLogs(logs) }, err}
	})
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		q.Since, q.Until, err = readSpan(since, until)
		if err != nil {
			return err
		}
		q.Level = env.Level(level)
		return checkLimit(q.Limit, q.Check())
	}
	cmd.Flags().StringVar(&q.SessionID, "session", "", "only entries of this session")
	cmd.Flags().StringVar(&q.AgentID, "agent", "", "only entries of this agent")
	cmd.Flags().StringVar(&level, "level", "", "minimum level: debug, info, warn or error")
	addSpan(cmd, &since, &until, &q.Limit)
	return cmd
}

func (c *command) envSessions() *cobra.Command {
	var f env.SessionFilter
	var since, until string
	var metadata []string
	cmd := c.envCommand("sessions [ID]", "List the sessions of an environment, newest first, or show one", false, func(ask envAsk) envAnswer {
		if ask.id != "" {
			s, err := ask.client.GetSession(ask.ctx, ask.id)
			return envAnswer{s, func() error { return c.printSessions(env.SessionPage{Sessions: []env.Session{s}}) }, err}
		}
		page, err := ask.client.ListSessions(ask.ctx, f)
		page.Sessions = append([]env.Session{}, page.Sessions...)
		return envAnswer{page, func() error { return c.printSessions(page) }, err}
	})
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		f.Since, f.Until, err = readSpan(since, until)
		if err != nil {
			return err
		}
		f.Metadata, err = readMetadata(metadata)
		if err != nil {
			return err
		}
		return checkLimit(f.Limit, f.Check())
	}
	cmd.Flags().StringVar(&f.ParentID, "parent", "", "only children of this session")
	cmd.Flags().StringArrayVar(&metadata, "meta", nil, "only sessions with this metadata: NAME=VALUE or NAME:=JSON; can be repeated")
	cmd.Flags().StringVar(&f.Cursor, "cursor", "", "cursor of the next page")
	addSpan(cmd, &since, &until, &f.Limit)
	return cmd
}

func addSpan(cmd *cobra.Command, since, until *string, limit *int) {
	cmd.Flags().StringVar(since, "since", "", sinceHelp)
	cmd.Flags().StringVar(until, "until", "", "only until then, in the same form")
	cmd.Flags().IntVar(limit, "limit", 100, "maximum number, up to 1000")
}

func readSpan(since, until string) (from, to time.Time, err error) {
	now := time.Now()
	from, err = parseTime("--since", since, now)
	if err == nil {
		to, err = parseTime("--until", until, now)
	}
	return from, to, err
}

// checkLimit turns the problem of a query into a usage error. Zero, the package's default, is a
// mistake on the command line.
func checkLimit(limit int, err error) error {
	if limit == 0 {
		return usage("limit: expected 1 to 1000, got 0")
	}
	if err != nil {
		return usage("%v", err)
	}
	return nil
}

func readMetadata(words []string) (env.Metadata, error) {
	if len(words) == 0 {
		return nil, nil
	}
	m := env.Metadata{}
	for _, word := range words {
		key, value, err := parseWord(word, nil)
		if err != nil {
			return nil, err
		}
		if _, twice := m[key]; twice {
			return nil, usage("--meta %s is given twice", key)
		}
		m[key] = json.RawMessage(value)
	}
	return m, nil
}
