package cli

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/base/fault"
)

// environment is the command env: it asks an environment, this gateway or any other server
// that speaks the protocol.
func (c *command) environment() *cobra.Command {
	cmd := &cobra.Command{
		Use: "env", Short: "Ask an environment: this gateway, or any server that speaks the environment protocol",
		Long: "Ask an environment what it is, which profiles and agents it has, what happened in it and which sessions there are.\n" +
			"Without --url and without a command it is the configured gateway.",
		Example: `  toolfit env describe
  toolfit env logs --level warn --since 1h
  toolfit env agents --url http://localhost:3000
  toolfit env sessions -- ./my-environment --some-flag`,
		Args: func(env *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(env, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.envDescribe(), c.envProfiles(), c.envAgents(), c.envLogs(), c.envSessions())
	return cmd
}

func (c *command) envDescribe() *cobra.Command {
	return c.envCommand("describe", "Show what an environment is and what it can do", &envFlags{tools: true}, func(ask envAsk, _ string) error {
		d, err := ask.client.Description(ask.ctx)
		if errors.Is(err, env.ErrNotOffered) {
			return fault.New(fault.NotFound, "%w", errNoEnvironment).WithHint("of a gateway: toolfit stdio --env")
		}
		if err != nil || c.json {
			return c.envJSON(d, err)
		}
		return c.printDescription(d)
	})
}

func (c *command) envProfiles() *cobra.Command {
	return c.envCommand("profiles [ID]", "List the profiles of an environment, or show one", &envFlags{tools: true}, func(ask envAsk, id string) error {
		if id != "" {
			p, err := ask.client.Profile(ask.ctx, id)
			if err != nil || c.json {
				return c.envJSON(p, err)
			}
			return c.printProfiles([]env.Profile{p})
		}
		all, err := ask.client.Profiles(ask.ctx)
		if err != nil || c.json {
			return c.envJSON(map[string]any{"profiles": append([]env.Profile{}, all...)}, err)
		}
		return c.printProfiles(all)
	})
}

func (c *command) envAgents() *cobra.Command {
	var role, profile string
	cmd := c.envCommand("agents [ID]", "List the agents of an environment, or show one", &envFlags{tools: true}, func(ask envAsk, id string) error {
		if id != "" {
			a, err := ask.client.Agent(ask.ctx, id, profile)
			if err != nil || c.json {
				return c.envJSON(a, err)
			}
			return c.printAgents([]env.AgentSpec{a})
		}
		all, err := ask.client.Agents(ask.ctx, env.Role(role), profile)
		if err != nil || c.json {
			return c.envJSON(map[string]any{"agents": append([]env.AgentSpec{}, all...)}, err)
		}
		return c.printAgents(all)
	})
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if role != "" && role != string(env.RolePrimary) && role != string(env.RoleSub) {
			return usage("--role %q is neither primary nor sub", role)
		}
		return nil
	}
	cmd.Flags().StringVar(&role, "role", "", "only agents of this role: primary or sub")
	cmd.Flags().StringVar(&profile, "of", "", "only agents of this profile of the environment")
	return cmd
}

func (c *command) envLogs() *cobra.Command {
	var q env.LogQuery
	var level, since, until string
	cmd := c.envCommand("logs", "Show what happened in an environment, the newest last", &envFlags{}, func(ask envAsk, _ string) error {
		logs, err := ask.client.Logs(ask.ctx, q)
		if err != nil || c.json {
			return c.envJSON(map[string]any{"logs": append([]env.LogEntry{}, logs...)}, err)
		}
		return c.printLogs(logs)
	})
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		if q.Since, q.Until, err = readSpan(since, until); err != nil {
			return err
		}
		q.Level = env.Level(level)
		return checkLimit(q.Limit, q.Check())
	}
	cmd.Flags().StringVar(&q.SessionID, "session", "", "only what belongs to this session")
	cmd.Flags().StringVar(&q.AgentID, "agent", "", "only what this agent did")
	cmd.Flags().StringVar(&level, "level", "", "this level and graver ones: debug, info, warn or error")
	addSpan(cmd, &since, &until, &q.Limit)
	return cmd
}

func (c *command) envSessions() *cobra.Command {
	var f env.SessionFilter
	var since, until string
	var metadata []string
	cmd := c.envCommand("sessions [ID]", "List the sessions of an environment, the newest first, or show one", &envFlags{}, func(ask envAsk, id string) error {
		if id != "" {
			s, err := ask.client.GetSession(ask.ctx, id)
			if err != nil || c.json {
				return c.envJSON(s, err)
			}
			return c.printSessions(env.SessionPage{Sessions: []env.Session{s}})
		}
		page, err := ask.client.ListSessions(ask.ctx, f)
		page.Sessions = append([]env.Session{}, page.Sessions...)
		if err != nil || c.json {
			return c.envJSON(page, err)
		}
		return c.printSessions(page)
	})
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		if f.Since, f.Until, err = readSpan(since, until); err != nil {
			return err
		}
		if f.Metadata, err = readMetadata(metadata); err != nil {
			return err
		}
		return checkLimit(f.Limit, f.Check())
	}
	cmd.Flags().StringVar(&f.ParentID, "parent", "", "only children of this session")
	cmd.Flags().StringArrayVar(&metadata, "meta", nil, "only sessions with this metadata: NAME=VALUE or NAME:=JSON; may be given more than once")
	cmd.Flags().StringVar(&f.Cursor, "cursor", "", "go on after the page that named this cursor")
	addSpan(cmd, &since, &until, &f.Limit)
	return cmd
}

func addSpan(cmd *cobra.Command, since, until *string, limit *int) {
	cmd.Flags().StringVar(since, "since", "", "from then on: a time such as 2026-01-31T08:00:00Z, or an age such as 12h or 7d")
	cmd.Flags().StringVar(until, "until", "", "up to then, in the same form")
	cmd.Flags().IntVar(limit, "limit", 100, "at most so many, up to 1000")
}

func readSpan(since, until string) (from, to time.Time, err error) {
	now := time.Now()
	if from, err = parseSince(since, now); err != nil {
		return from, to, err
	}
	if to, err = parseSince(until, now); err != nil {
		return from, to, usage("--until %s", strings.TrimPrefix(err.Error(), "--since "))
	}
	return from, to, nil
}

// checkLimit says what is wrong with a query before it is sent. Zero means a default to the
// package, and is a mistake of a person.
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

// envJSON prints an answer as its tool gives it.
func (c *command) envJSON(v any, err error) error {
	if err != nil {
		return err
	}
	return c.printJSON(v)
}
