package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
)

func (c *command) add() *cobra.Command {
	var s config.Server
	var f addFlags
	cmd := &cobra.Command{
		Use:        "add NAME (URL | -- COMMAND [ARG…] | --openapi FILE|URL)",
		Short:      "Add a server, or an HTTP API by its description, to the configuration",
		SuggestFor: []string{"init", "new"},
		Example: `  toolfit add files -- npx -y @modelcontextprotocol/server-filesystem .
  toolfit add cloud https://example.com/mcp --header 'Authorization: Bearer ${CLOUD_TOKEN}'
  toolfit add petstore --openapi petstore.yaml --base http://127.0.0.1:9000 --auth 'api_key=${PET_KEY}'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 && (len(args) < 1 || f.api.Spec == "") {
				return usage("add takes a name, and a URL, or -- and a command, or --openapi; see: toolfit add --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s.ID = tool.ServerID(args[0])
			if err := tool.CheckServerID(s.ID); err != nil {
				return err
			}
			if err := f.fill(&s, args[1:]); err != nil {
				return err
			}
			path := c.editPath()
			if s.API != nil {
				return c.addAPI(cmd.Context(), path, s)
			}
			if err := config.AddServer(path, s); err != nil {
				return err
			}
			notes := c.beforeStart(path, s)
			if c.json {
				return c.printJSON(added{string(s.ID), path, notes})
			}
			fmt.Fprintf(c.env.Out, "added %s to %s\n", s.ID, path)
			for _, note := range notes {
				fmt.Fprintf(c.env.Err, "  note: %s\n", note)
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&s.Inherit, "inherit", nil, "environment variable of ours that the command gets, NAME or a glob such as AWS_*; may be repeated")
	cmd.Flags().StringVar(&s.Isolation, "isolation", "", "shared, or session: one process or session for each caller's session")
	cmd.Flags().DurationVar(&s.Timeout, "timeout", 0, "limit for one call (default 1m)")
	cmd.Flags().DurationVar(&s.Idle, "idle", 0, "closed after so long without a call (default 10m)")
	f.add(cmd)
	return cmd
}

// added is what add tells of a server.
type added struct {
	Added string   `json:"added"`
	File  string   `json:"file"`
	Notes []string `json:"notes,omitempty"` // what is to be done before it can start
}

// beforeStart is what a new server still lacks here. It may be there where the gateway runs,
// so the server is added all the same.
func (c *command) beforeStart(path string, s config.Server) (notes []string) {
	if held := heldIn(s); len(held) > 0 {
		notes = append(notes, fmt.Sprintf("%s in %s%s: %s; write ${VAR} or ${file:PATH} in its place to keep it elsewhere", looksLike(len(held)), path, alone, some(held)))
	}
	cfg, err := config.Load(path, c.env.Lookup)
	if fault.Is(err, fault.BadConfig) {
		notes = append(notes, strings.Split(fault.As(err).Message, "\n")...)
	}
	if err == nil {
		i := slices.IndexFunc(cfg.Servers, func(other config.Server) bool { return other.ID == s.ID })
		if cfg.Servers[i].Missing != "" {
			notes = append(notes, cfg.Servers[i].Missing)
		}
	}
	if s.Command == "" || strings.Contains(s.Command, "${") {
		return notes
	}
	s.Cwd = filepath.Dir(path)
	if _, err := s.Program(); err != nil {
		notes = append(notes, fmt.Sprintf("command \"%s\" does not exist here; %s", s.Command, s.CommandHint()))
	} else if hint := s.WindowsHint(); hint != "" {
		notes = append(notes, hint)
	}
	return notes
}

// addFlags are the flags of add that need more than a look.
type addFlags struct {
	env, headers, auth []string
	api                config.API
}

func (f *addFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.env, "env", nil, "environment variable of the command, KEY=VALUE; may be repeated")
	flags.StringArrayVar(&f.headers, "header", nil, "header sent to the URL, 'Name: value'; may be repeated")
	flags.StringVar(&f.api.Spec, "openapi", "", "OpenAPI or Swagger document of an HTTP API, a file or an address")
	flags.StringVar(&f.api.Base, "base", "", "address of the HTTP API (default: what the document says)")
	flags.StringArrayVar(&f.auth, "auth", nil, "credential of the HTTP API, SCHEME=KEY or SCHEME=USER:PASSWORD; may be repeated")
	flags.StringSliceVar(&f.api.Tags, "tag", nil, "only operations of the HTTP API with one of these tags")
	flags.BoolVar(&f.api.ReadOnly, "read-only", false, "only operations of the HTTP API that change nothing")
}

// fill says what kind of server it is.
func (f *addFlags) fill(s *config.Server, target []string) (err error) {
	if s.Env, err = pairs(f.env, "=", "--env KEY=VALUE"); err != nil {
		return err
	}
	if s.Headers, err = pairs(f.headers, ":", "--header 'Name: value'"); err != nil {
		return err
	}
	if f.api.Spec == "" {
		if f.api.Base != "" || len(f.auth) > 0 || len(f.api.Tags) > 0 || f.api.ReadOnly {
			return usage("--base, --auth, --tag and --read-only go with --openapi")
		}
		return fillTarget(s, target)
	}
	if len(target) > 0 || len(s.Env) > 0 || len(s.Inherit) > 0 || s.Isolation != "" {
		return usage("an HTTP API has neither a command nor a URL of its own; give its address with --base")
	}
	credentials, err := pairs(f.auth, "=", "--auth SCHEME=KEY")
	if err != nil {
		return err
	}
	for scheme, value := range credentials {
		if f.api.Auth == nil {
			f.api.Auth = map[string]config.Credential{}
		}
		c := config.Credential{Value: value}
		if user, password, basic := strings.Cut(value, ":"); basic && !strings.HasPrefix(value, "${") {
			c = config.Credential{User: user, Password: password}
		}
		f.api.Auth[scheme] = c
	}
	s.API = &f.api
	return nil
}

// fillTarget says what kind of server it is: one argument that is a URL, or a command.
func fillTarget(s *config.Server, args []string) error {
	if strings.HasPrefix(args[0], "http://") || strings.HasPrefix(args[0], "https://") {
		if len(args) > 1 {
			return usage("a URL takes no further arguments: %q", args[1])
		}
		s.URL = args[0]
		return nil
	}
	if strings.Contains(args[0], "://") {
		return usage("%q is no URL of http or https", args[0])
	}
	s.Command = args[0]
	s.Args = args[1:]
	return nil
}

func pairs(list []string, sep, form string) (map[string]string, error) {
	var m map[string]string
	for _, item := range list {
		key, value, ok := strings.Cut(item, sep)
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, usage("%q is not of the form %s", item, form)
		}
		if m == nil {
			m = map[string]string{}
		}
		if sep == ":" {
			value = strings.TrimSpace(value)
		}
		m[key] = value
	}
	return m, nil
}

func (c *command) remove() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a server from the configuration", Args: exactly(1, "the name of a server"),
		RunE: func(_ *cobra.Command, args []string) error {
			path := c.editPath()
			if err := config.RemoveServer(path, tool.ServerID(args[0])); err != nil {
				return err
			}
			if c.json {
				return c.printJSON(map[string]string{"removed": args[0], "file": path})
			}
			_, err := fmt.Fprintf(c.env.Out, "removed %s from %s\n", args[0], path)
			return err
		},
	}
}
