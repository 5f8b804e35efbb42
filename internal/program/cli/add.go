package cli

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/shell"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/oauth"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

func (c *command) add() *cobra.Command {
	var s config.Server
	var f addFlags
	var from sourceFlags
	cmd := &cobra.Command{
		Use:        "add NAME (URL | -- COMMAND [ARG…] | --openapi FILE|URL) | [NAME] SOURCE",
		Short:      "Add a server or an HTTP API to the configuration",
		SuggestFor: []string{"init", "new"},
		Long: `Add a server or an HTTP API to the configuration.

SOURCE is how others describe a server: its name in a registry, such as io.github.acme/weather or
io.github.acme/weather@1.0.2, a server.json (path or URL), or a bundle (the path of an .mcpb).
Names are looked up in the official MCP registry, or where --registry says. A package that can be
run is preferred: npm (npx), pypi (uvx), oci (docker), mcpb. --package picks another kind, --remote
the server's address. A bundle is unpacked into the folder bundles beside the configuration.

Values that the server requires are asked for on a terminal, or given with --set, --env and
--header. What will be run is shown before it is added.`,
		Example: `  toolfit add files -- npx -y @modelcontextprotocol/server-filesystem .
  toolfit add cloud https://example.com/mcp --header 'Authorization: Bearer ${CLOUD_TOKEN}'
  toolfit add petstore --openapi petstore.yaml --base http://127.0.0.1:9000 --auth 'api_key=${PET_KEY}'
  toolfit add io.github.acme/weather@1.0.2 --set 'API_KEY=${WEATHER_KEY}'
  toolfit add weather ./weather.mcpb`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && isSource(args[0]) {
				return nil
			}
			if len(args) < 2 && (len(args) < 1 || f.api.Spec == "") {
				return usage("add takes a name and one of: a URL, -- and a command, or --openapi; or a registry's name, a server.json or a .mcpb; " +
					"see: toolfit add --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if last := args[len(args)-1]; len(args) <= 2 && cmd.ArgsLenAtDash() < 0 && f.api.Spec == "" && isSource(last) {
				if len(args) == 2 {
					s.ID = tool.ServerID(args[0])
				}
				if err := f.pairs(&s); err != nil {
					return err
				}
				return c.addSource(cmd.Context(), last, s, from)
			}
			if slices.ContainsFunc(ofSources, func(name string) bool { return cmd.Flags().Changed(name) }) {
				return usage("--%s are for a registry's name, a server.json or an .mcpb", strings.Join(ofSources, ", --"))
			}
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
			if err := standHere(&s, path); err != nil {
				return err
			}
			notes, err := c.writeServer(cmd.Context(), path, &s)
			if err != nil {
				return err
			}
			return c.tellAdded(path, s, notes)
		},
	}
	cmd.Flags().StringSliceVar(&s.Inherit, "inherit", nil,
		"environment variable to pass on to the command, NAME or a glob such as AWS_*; can be repeated")
	cmd.Flags().StringVar(&s.Isolation, "isolation", "", "shared, or session: a process or session of its own for each caller's session")
	cmd.Flags().DurationVar(&s.Timeout, "timeout", 0, "timeout of a call (default 1m, or 1h if it can detach)")
	cmd.Flags().DurationVar(&s.Idle, "idle", 0, "stop the server after this time without calls (default 10m)")
	f.add(cmd)
	from.add(cmd)
	return cmd
}

// standHere makes a command that names files of this folder run in it, where the configuration lies in another:
// relative paths are the configuration's, and "." would be the folder with the secrets.
func standHere(s *config.Server, path string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	local := func(word string) bool {
		return !filepath.IsAbs(word) && !strings.HasPrefix(word, "-") && word != "" && exists(word)
	}
	if s.Command != "" && filepath.Dir(full) != here && slices.ContainsFunc(append([]string{s.Command}, s.Args...), local) {
		s.Cwd = here
	}
	return nil
}

// writeServer adds a server to the file. The notes say how to sign in to it.
func (c *command) writeServer(ctx context.Context, path string, s *config.Server) (notes []string, err error) {
	notes = c.proposeSignIn(ctx, path, s)
	return notes, config.AddServer(path, *s)
}

// tellAdded says that a server was added, and what is missing before it can start.
func (c *command) tellAdded(path string, s config.Server, notes []string) error {
	notes = append(c.beforeStart(path, s), notes...)
	return c.show(added{string(s.ID), path, notes}, func() error {
		err := c.say("added %s to %s\n", s.ID, path)
		c.note("  ", notes)
		return err
	})
}

type added struct {
	Added string   `json:"added"`
	File  string   `json:"file"`
	Notes []string `json:"notes,omitempty"` // what is missing before it can start
}

// probeTime is how long a new server may take to say whether it wants a token.
const probeTime = 5 * time.Second

// proposeSignIn makes a server that wants tokens get them, each person with their own: with one of the gateway, everybody who
// can call it would use the account of whoever signs in. The notes say what is left to do.
func (c *command) proposeSignIn(ctx context.Context, path string, s *config.Server) (notes []string) {
	if _, given := s.Headers["Authorization"]; s.URL == "" || given || strings.Contains(s.URL, "${") {
		return nil
	}
	cfg, err := config.Load(path, c.env.Lookup)
	if err != nil { // it may be the first server
		if cfg, err = config.Parse(path, nil, c.env.Lookup); err != nil {
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	defer c.waiting("asking the server")()
	needs, ready := app.WantsSignIn(ctx, cfg, *s)
	switch {
	case needs == nil:
		return nil
	case !ready:
		return []string{needs.Error()}
	}
	*s = oauth.Proposed(*s)
	notes = append(notes, c.lang.Sprintf("it needs sign-in, each person with their own account (oauth: {as: %s}); run: toolfit login %s",
		s.OAuth.As, s.ID))
	if _, has := c.env.Lookup("TOOLFIT_SECRET_KEY"); !has {
		notes = append(notes, store.ErrNoKey.Error())
	}
	return notes
}

// beforeStart lists what a new server lacks here. It is added all the same, because the gateway
// may run elsewhere.
func (c *command) beforeStart(path string, s config.Server) (notes []string) {
	if held := heldIn(s); len(held) > 0 {
		notes = append(notes, c.lang.Sprintf("%s in %s%s: %s; use ${VAR} or ${file:PATH} to keep it elsewhere", c.looksLike(len(held)), path,
			c.word(alone), c.some(held)))
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
	s.Cwd = cmp.Or(s.Cwd, filepath.Dir(path))
	if _, err := s.Program(); err != nil {
		notes = append(notes, c.lang.Sprintf("command \"%s\" does not exist here; %s", s.Command, c.translate(s.CommandHint())))
	} else if hint := s.WindowsHint(); hint != "" {
		notes = append(notes, hint)
	}
	return notes
}

type addFlags struct {
	env, headers, auth []string
	api                config.API
}

func (f *addFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.env, "env", nil, "environment variable of the command, KEY=VALUE; can be repeated")
	flags.StringArrayVar(&f.headers, "header", nil, "header for the URL, 'Name: value'; can be repeated")
	flags.StringVar(&f.api.Spec, "openapi", "", "OpenAPI or Swagger document of an HTTP API, a file or a URL")
	flags.StringVar(&f.api.Base, "base", "", "base URL of the HTTP API (default: from the document)")
	flags.StringArrayVar(&f.auth, "auth", nil, "credential of the HTTP API, SCHEME=KEY or SCHEME=USER:PASSWORD; can be repeated")
	flags.StringSliceVar(&f.api.Tags, "tag", nil, "only operations with one of these tags")
	flags.BoolVar(&f.api.ReadOnly, "read-only", false, "only operations that change nothing")
}

// pairs fills variables and headers in. Flags for an HTTP API must not be lost on another server.
func (f *addFlags) pairs(s *config.Server) (err error) {
	if f.api.Spec == "" && (f.api.Base != "" || len(f.auth) > 0 || len(f.api.Tags) > 0 || f.api.ReadOnly) {
		return usage("--base, --auth, --tag and --read-only need --openapi")
	}
	if s.Env, err = pairs(f.env, "=", "--env KEY=VALUE"); err != nil {
		return err
	}
	s.Headers, err = pairs(f.headers, ":", "--header 'Name: value'")
	return err
}

func (f *addFlags) fill(s *config.Server, target []string) (err error) {
	if err := f.pairs(s); err != nil {
		return err
	}
	if f.api.Spec == "" {
		return fillTarget(s, target)
	}
	if len(target) > 0 || len(s.Env) > 0 || len(s.Inherit) > 0 || s.Isolation != "" {
		return usage("an HTTP API has no command and no MCP URL; give its address with --base")
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

func fillTarget(s *config.Server, args []string) error {
	if strings.HasPrefix(args[0], "http://") || strings.HasPrefix(args[0], "https://") {
		if len(args) > 1 {
			return usage("a URL takes no further arguments: %q", args[1])
		}
		s.URL = args[0]
		return nil
	}
	if strings.Contains(args[0], "://") {
		return usage("%q is not an http or https URL", args[0])
	}
	s.Command = args[0]
	s.Args = args[1:]
	return nil
}

func pairs(list []string, sep, form string) (map[string]string, error) {
	var m map[string]string
	for _, item := range list {
		key, value, ok := strings.Cut(item, sep)
		key = strings.TrimSpace(key)
		if !ok || key == "" {
			return nil, usage("%q: expected %s", item, form)
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
		Use: "remove NAME", Short: "Remove a server from the configuration", Args: takes(1, 1, "the name of a server"),
		Example: `  toolfit remove files`,
		RunE: func(_ *cobra.Command, args []string) error {
			path := c.editPath()
			bundle := bundleOf(path, tool.ServerID(args[0]))
			if err := config.RemoveServer(path, tool.ServerID(args[0])); err != nil {
				return err
			}
			if bundle != "" { // the gateway may still run it, and the server may have written there
				c.note("", []string{c.lang.Sprintf("its files are still in %s; delete them if nothing else uses them", bundle)})
			}
			return c.printf(map[string]string{"removed": args[0], "file": path}, "removed %s from %s\n", args[0], path)
		},
	}
}

// dashed inserts the missing -- in "add NAME COMMAND ARG…" if flags follow that can only be the
// command's: short ones, and those that add does not have. If flags of add are among them, it
// is ambiguous and an error. Parse errors are left to the real parser.
func dashed(env *Env, args []string) ([]string, error) {
	if !slices.Contains(args, "add") {
		return args, nil
	}
	scratch := &command{env: env} // with flags of its own
	add, rest, err := scratch.root().Find(args)
	if err != nil || add.Name() != "add" || slices.Contains(rest, "--") {
		return args, nil
	}
	flags := add.Flags()
	flags.AddFlagSet(add.InheritedFlags())
	flags.SetInterspersed(false)
	var name string
	for range 2 { // to the name, then to the command
		if flags.Parse(rest) != nil || flags.NArg() < 2 && name == "" || flags.NArg() == 0 {
			return args, nil
		}
		rest = flags.Args()
		if name == "" {
			name = rest[0]
			rest = rest[1:]
		}
	}
	spec, _ := flags.GetString("openapi")
	if spec != "" || strings.Contains(rest[0], "://") || isSource(rest[0]) {
		return args, nil
	}
	var ours, theirs string
	for _, arg := range rest[1:] {
		switch long, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "="); {
		case len(arg) < 2 || arg[0] != '-':
		case arg[1] == '-' && flags.Lookup(long) != nil && !slices.Contains(ofSources, long):
			ours = "--" + long
		default:
			theirs = arg
		}
	}
	switch {
	case theirs == "":
		return args, nil
	case ours != "":
		return nil, usage("%s is a flag of toolfit add, %s is not; put ours before --, the command's after it: toolfit add %s [%s …] -- %s",
			ours, theirs, name, ours, shell.Join(rest))
	}
	return slices.Insert(slices.Clone(args), len(args)-len(rest), "--"), nil
}
