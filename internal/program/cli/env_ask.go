package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/integration/gatewayenv"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

type envAsk struct {
	ctx    context.Context
	client *env.Client
	id     string // "" for none
}

// envAnswer is the answer for --json, and a function that prints it for people.
type envAnswer struct {
	value any
	text  func() error
	err   error
}

// envTimeout is the time limit of a command.
const envTimeout = time.Minute

// envCommand is a command that queries an environment, with tools if it needs the tool lists of
// servers. Use says whether it takes an id.
func (c *command) envCommand(use, short string, tools bool, run func(envAsk) envAnswer) *cobra.Command {
	var flags askFlags
	takesID := strings.Contains(use, "[ID]")
	name, _, _ := strings.Cut(use, " ")
	example := "  toolfit env %[1]s\n  toolfit env %[1]s --url http://localhost:3000\n  toolfit env %[1]s -- ./my-environment"
	cmd := &cobra.Command{Use: use + " [-- COMMAND…]", Short: short, Example: fmt.Sprintf(example, name), RunE: func(cmd *cobra.Command, args []string) error {
		server := []string{}
		if at := cmd.ArgsLenAtDash(); at >= 0 {
			server = args[at:]
			args = args[:at]
			if len(server) == 0 {
				return usage("-- must be followed by the command of the environment's server")
			}
		}
		switch {
		case len(args) > 1 || len(args) == 1 && !takesID:
			return usage("%s does not take %q; put a command after --", strings.TrimPrefix(cmd.CommandPath(), "toolfit "), args[len(args)-1])
		case len(server) > 0 && flags.url != "":
			return usage("use either --url or a command")
		}
		id := strings.Join(args, "")
		ctx, cancel := context.WithTimeout(cmd.Context(), envTimeout)
		defer cancel()
		defer c.waiting("asking the environment")()
		return explainEnv(c.askEnv(ctx, flags, tools, server, func(client *env.Client) error {
			answer := run(envAsk{ctx, client, id})
			if answer.err != nil {
				return answer.err
			}
			return c.show(answer.value, answer.text)
		}))
	}}
	flags.add(cmd)
	cmd.Flags().Lookup("profile").Usage = "profile of the gateway (default: default)"
	cmd.Flags().Lookup("url").Usage = "URL of the gateway or environment"
	return cmd
}

func (c *command) askEnv(ctx context.Context, flags askFlags, tools bool, server []string, f func(*env.Client) error) error {
	switch {
	case len(server) > 0:
		cmd := exec.CommandContext(ctx, server[0], server[1:]...) // inherits our environment, as from a shell
		cmd.Stderr = c.env.Err
		client, err := env.Start(ctx, cmd)
		return withClient(f)(client, cannotStart(err))
	case flags.url != "" && !flags.standalone:
		client, err := c.dialEnv(ctx, flags)
		return withClient(f)(client, cannotReach(err))
	}
	g, err := c.running(ctx, flags, runFlags{})
	switch {
	case err != nil:
		return err
	case g != nil:
		return withClient(f)(g.environment(ctx, flags.profile))
	}
	profile, err := access.Owner().ProfileFor(flags.profile)
	if err != nil {
		return err
	}
	if !tools { // no server needs to start
		return c.withStore(ctx, func(cfg *config.Config, st *store.Store) error {
			parts := gatewayenv.Parts{Store: st, Version: c.env.Version, Logger: c.logger(slog.LevelError),
				Config: func() *config.Config { return cfg }}
			g := gatewayenv.New(parts)
			return askInside(ctx, g.Options(access.Owner(), profile), f)
		})
	}
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return c.withApp(ctx, cfg, slog.LevelError, func(a *app.App) error {
		if _, err := a.Catalog.View(profile); err != nil {
			return err
		}
		return askInside(ctx, a.Env.Options(access.Owner(), profile), f)
	})
}

func withClient(f func(*env.Client) error) func(*env.Client, error) error {
	return func(client *env.Client, err error) error {
		if err != nil {
			return err
		}
		return errors.Join(f(client), client.Close())
	}
}

// askInside serves an environment in this process while f runs.
func askInside(ctx context.Context, opts *env.Options, f func(*env.Client) error) error {
	server, err := env.NewServer(nil, opts)
	if err != nil {
		return err
	}
	defer server.Close()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	var serving sync.WaitGroup
	defer serving.Wait()
	serving.Go(func() { toClient.CloseWithError(server.Run(ctx, fromClient, toClient)) })
	return withClient(f)(env.NewClient(ctx, fromServer, toServer))
}

// dialEnv connects to the server at the URL. If that is not an environment, it tries the path at
// which gateways have theirs.
func (c *command) dialEnv(ctx context.Context, flags askFlags) (*env.Client, error) {
	u, err := parseURL(flags.url)
	if err != nil {
		return nil, err
	}
	key, err := c.credential(flags)
	if err != nil {
		return nil, err
	}
	opts := &env.DialOptions{Header: (&gateway{key: key}).header(nil)}
	if flags.profile != "" {
		return env.Dial(ctx, gatewayPath(*u, flags.profile), opts)
	}
	client, err := dialEnvironment(ctx, flags.url, opts)
	if err == nil || !errors.Is(err, errNoEnvironment) && !isRefused(err) {
		return client, err
	}
	inner, innerErr := dialEnvironment(ctx, gatewayPath(*u, ""), opts)
	if innerErr == nil || isRefused(innerErr) {
		return inner, innerErr
	}
	return nil, err // not a gateway
}

// environment connects to a profile of a gateway as an environment.
func (g *gateway) environment(ctx context.Context, profile string) (*env.Client, error) {
	u, err := url.Parse(g.base)
	if err != nil {
		return nil, err
	}
	client, err := env.Dial(ctx, gatewayPath(*u, profile), &env.DialOptions{HTTP: &http.Client{Transport: g.http}, Header: g.header(nil)})
	if hasStatus(err, http.StatusNotFound) {
		return nil, fault.New(fault.NotFound, "there is no profile %s", profile)
	}
	return client, cannotReach(err)
}

var errNoEnvironment = errors.New("the server is not an environment: it has no tool env_get_description")

// dialEnvironment is env.Dial for environments only.
func dialEnvironment(ctx context.Context, address string, opts *env.DialOptions) (*env.Client, error) {
	client, err := env.Dial(ctx, address, opts)
	if err != nil {
		return nil, err
	}
	is, err := client.IsEnvironment(ctx)
	switch {
	case err != nil:
		return nil, errors.Join(err, client.Close())
	case !is:
		return nil, errors.Join(errNoEnvironment, client.Close())
	}
	return client, nil
}

func hasStatus(err error, code int) bool {
	var status *env.StatusError
	return errors.As(err, &status) && status.Code == code
}

func isRefused(err error) bool {
	return hasStatus(err, http.StatusForbidden) || hasStatus(err, http.StatusUnauthorized)
}

// gatewayPath is the address of a profile as an environment, from any address of a gateway. ""
// is the profile in the address.
func gatewayPath(u url.URL, profile string) string {
	base, rest, _ := strings.Cut(strings.TrimRight(u.Path, "/")+"/", "/mcp/")
	named, _, _ := strings.Cut(rest, "/")
	u.Path = strings.TrimRight(base, "/") + "/mcp/" + cmp.Or(profile, named, config.DefaultProfile) + "/env"
	u.RawPath = ""
	return u.String()
}

func cannotStart(err error) error {
	switch {
	case err == nil || isOver(err):
		return err
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
		return fault.New(fault.UpstreamDown, "%w", err).WithHint("install it, or correct the command after --")
	}
	return fault.New(fault.UpstreamDown, "%w", err).
		WithHint("the command after -- must be an MCP server on standard input and output; see its output above")
}

func cannotReach(err error) error {
	var bad usageError
	switch {
	case err == nil || isOver(err) || errors.As(err, &bad):
		return err
	case hasStatus(err, http.StatusUnauthorized):
		return fault.New(fault.Unauthorized, "%w", err).WithHint("give a key with --key or in TOOLFIT_KEY")
	case hasStatus(err, http.StatusForbidden):
		return fault.New(fault.Forbidden, "%w", err).
			WithHint("name the key's profile with --profile, or give another key with --key or in TOOLFIT_KEY")
	case errors.Is(err, errNoEnvironment):
		return fault.New(fault.NotFound, "%w", err).WithHint("a gateway has its environment at /mcp/PROFILE/env; --profile names the profile")
	}
	return fault.New(fault.UpstreamDown, "%w", err).WithHint("start the environment, or correct --url; for this gateway: toolfit serve")
}

func isOver(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

func explainEnv(err error) error {
	var none *env.NotFoundError
	var told *env.ToolError
	var known *fault.Error
	var bad usageError
	switch {
	case err == nil || errors.As(err, &known) || errors.As(err, &bad) || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &none):
		return fault.New(fault.NotFound, "%w", none)
	case errors.Is(err, env.ErrNotOffered):
		return fault.New(fault.NotFound, "%w", err).
			WithHint("toolfit env describe lists what it offers; a gateway has its environment at /mcp/PROFILE/env")
	case errors.As(err, &told):
		return fault.New(fault.UpstreamError, "%w", told)
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.UpstreamTimeout, "the environment did not answer within %s: %w", envTimeout, err).
			WithHint("it may hang; try again")
	}
	return fault.New(fault.UpstreamProtocol, "%w", err).WithHint("this is an error in the environment's server; see its log")
}
