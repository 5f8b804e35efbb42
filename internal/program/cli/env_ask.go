package cli

import (
	"cmp"
	"context"
	"errors"
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

// envFlags say which environment to ask.
type envFlags struct {
	askFlags
	tools bool // the answer needs the lists of servers; without it none is started
}

// envAsk is an environment that can be asked.
type envAsk struct {
	ctx    context.Context
	client *env.Client
}

// envPatience is how long an environment may take for all that a command asks.
const envPatience = time.Minute

// envCommand is a command that asks an environment. Its Use says whether it takes an id.
func (c *command) envCommand(use, short string, flags *envFlags, run func(ask envAsk, id string) error) *cobra.Command {
	takesID := strings.Contains(use, "[ID]")
	cmd := &cobra.Command{Use: use + " [-- COMMAND…]", Short: short, RunE: func(cmd *cobra.Command, args []string) error {
		server := []string{}
		if at := cmd.ArgsLenAtDash(); at >= 0 {
			args, server = args[:at], args[at:]
			if len(server) == 0 {
				return usage("after -- comes the command that starts the environment's server")
			}
		}
		switch {
		case len(args) > 1 || len(args) == 1 && !takesID:
			return usage("%s does not take %q; a command stands after --", cmd.CommandPath(), args[len(args)-1])
		case len(server) > 0 && flags.url != "":
			return usage("give --url or a command, not both")
		}
		id := strings.Join(args, "")
		ctx, cancel := context.WithTimeout(cmd.Context(), envPatience)
		defer cancel()
		defer c.waiting("asking the environment")()
		return explainEnv(c.askEnv(ctx, *flags, server, func(client *env.Client) error { return run(envAsk{ctx, client}, id) }))
	}}
	flags.add(cmd)
	cmd.Flags().Lookup("profile").Usage = "profile of the gateway (default: default)"
	cmd.Flags().Lookup("url").Usage = "ask the gateway or the environment at this URL"
	return cmd
}

// askEnv runs f with a client of the environment that is meant.
func (c *command) askEnv(ctx context.Context, flags envFlags, server []string, f func(*env.Client) error) error {
	switch {
	case len(server) > 0:
		cmd := exec.CommandContext(ctx, server[0], server[1:]...) // with our environment: it is started by hand, as from a shell
		cmd.Stderr = c.env.Err
		client, err := env.Start(ctx, cmd)
		return withClient(f)(client, cannotStart(err))
	case flags.url != "" && !flags.standalone:
		client, err := c.dialEnv(ctx, flags)
		return withClient(f)(client, cannotReach(err))
	}
	if g, err := c.running(ctx, flags.askFlags, runFlags{}); err != nil || g != nil {
		if err != nil {
			return err
		}
		return withClient(f)(g.environment(ctx, flags.profile))
	}
	profile, err := access.Owner().ProfileFor(flags.profile)
	if err != nil {
		return err
	}
	if !flags.tools {
		return c.withStore(ctx, func(cfg *config.Config, st *store.Store) error {
			g := gatewayenv.New(gatewayenv.Parts{Config: func() *config.Config { return cfg }, Store: st, Version: c.env.Version, Logger: c.logger(slog.LevelError)})
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

// withClient ends a client after its use.
func withClient(f func(*env.Client) error) func(*env.Client, error) error {
	return func(client *env.Client, err error) error {
		if err != nil {
			return err
		}
		return errors.Join(f(client), client.Close())
	}
}

// askInside serves an environment inside this process for as long as it is asked.
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

// dialEnv reaches the server at the URL. A gateway has its environment at a path of its own,
// so where the tools are missing they are looked for there.
func (c *command) dialEnv(ctx context.Context, flags envFlags) (*env.Client, error) {
	u, err := url.Parse(flags.url)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, usage("--url %q is no URL of http or https", flags.url)
	}
	key, err := c.credential(flags.askFlags)
	if err != nil {
		return nil, err
	}
	opts := &env.DialOptions{}
	if key != "" {
		opts.Header = http.Header{"Authorization": {"Bearer " + key}}
	}
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
	return nil, err // it is no gateway
}

// environment reaches a profile of a gateway as an environment.
func (g *gateway) environment(ctx context.Context, profile string) (*env.Client, error) {
	u, err := url.Parse(g.base)
	if err != nil {
		return nil, err
	}
	opts := &env.DialOptions{HTTP: &http.Client{Transport: g.http}}
	if g.key != "" {
		opts.Header = http.Header{"Authorization": {"Bearer " + g.key}}
	}
	client, err := env.Dial(ctx, gatewayPath(*u, profile), opts)
	var status *env.StatusError
	if errors.As(err, &status) && status.Code == http.StatusNotFound {
		return nil, fault.New(fault.NotFound, "there is no profile %s", profile)
	}
	return client, cannotReach(err)
}

var errNoEnvironment = errors.New("the server is no environment: it has no tool env_get_description")

// dialEnvironment is env.Dial that takes nothing but environments.
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

// isForbidden tells whether a server knows who asks, and says no.
func isForbidden(err error) bool {
	var status *env.StatusError
	return errors.As(err, &status) && status.Code == http.StatusForbidden
}

// isRefused tells whether a server says no to who asks, known or not.
func isRefused(err error) bool {
	var status *env.StatusError
	return isForbidden(err) || errors.As(err, &status) && status.Code == http.StatusUnauthorized
}

// gatewayPath is where a gateway has a profile as an environment, by any address of it: its
// own, that of its agents, or that of one profile. "" is the profile that the address names.
func gatewayPath(u url.URL, profile string) string {
	base, rest, _ := strings.Cut(strings.TrimRight(u.Path, "/")+"/", "/mcp/")
	named, _, _ := strings.Cut(rest, "/")
	u.Path, u.RawPath = strings.TrimRight(base, "/")+"/mcp/"+cmp.Or(profile, named, config.DefaultProfile)+"/env", ""
	return u.String()
}

// cannotStart is the error of a server that did not come up, as a person should see it.
func cannotStart(err error) error {
	switch {
	case err == nil || isOver(err):
		return err
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
		return fault.New(fault.UpstreamDown, "%w", err).WithHint("install it, or correct the command after --")
	}
	return fault.New(fault.UpstreamDown, "%w", err).WithHint("the command after -- must be an MCP server on its standard input and output; what it wrote above may say more")
}

// cannotReach is the error of a server that does not answer at its address, as a person
// should see it.
func cannotReach(err error) error {
	var status *env.StatusError
	var bad usageError
	switch {
	case err == nil || isOver(err) || errors.As(err, &bad):
		return err
	case errors.As(err, &status) && status.Code == http.StatusUnauthorized:
		return fault.New(fault.Unauthorized, "%w", err).WithHint("give a key of it with --key or TOOLFIT_KEY")
	case isForbidden(err):
		return fault.New(fault.Forbidden, "%w", err).WithHint("name the profile of the key with --profile, or give another key with --key or TOOLFIT_KEY")
	case errors.Is(err, errNoEnvironment):
		return fault.New(fault.NotFound, "%w", err).WithHint("a gateway has its environment at /mcp/PROFILE/env; --profile names the profile")
	}
	return fault.New(fault.UpstreamDown, "%w", err).WithHint("start the environment, or correct --url; for this gateway: toolfit serve")
}

// isOver tells whether it was the time that ended, or the person who ended it.
func isOver(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// explainEnv is an error of an environment that was reached, as a person should see it.
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
		return fault.New(fault.NotFound, "%w", err).WithHint("toolfit env describe says what there is; a gateway has its environment at /mcp/PROFILE/env")
	case errors.As(err, &told):
		return fault.New(fault.UpstreamError, "%w", told)
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.UpstreamTimeout, "the environment did not answer within %s: %w", envPatience, err).WithHint("see whether it hangs, and ask again")
	}
	return fault.New(fault.UpstreamProtocol, "%w", err).WithHint("the fault is with the environment's server: its log may say more")
}
