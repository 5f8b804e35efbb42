package cli

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

type runFlags struct{ listen, store string }

func (f *runFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.listen, "listen", "", "address to listen on (default: as configured)")
	cmd.Flags().StringVar(&f.store, "store", "", "store to use (default: as configured)")
}

func (f *runFlags) apply(cfg *config.Config) error {
	if f.listen != "" {
		if wrong := config.CheckAddress(f.listen); wrong != "" {
			return usage("--listen %q: %s", f.listen, wrong)
		}
		cfg.Listen = f.listen
	}
	if f.store != "" {
		cfg.Store = f.store
	}
	return nil
}

func (c *command) loadWith(flags runFlags) (*config.Config, error) {
	cfg, err := c.load()
	if err == nil {
		err = flags.apply(cfg)
	}
	return cfg, err
}

func (c *command) serve() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve all configured servers behind one endpoint", Args: noArguments,
		Example: `  toolfit serve
  toolfit serve --config work.yaml --listen 127.0.0.1:9000`,
		SuggestFor: []string{"start", "run", "up"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.loadWith(flags)
			if err != nil {
				return err
			}
			return c.withListener(cmd.Context(), cfg, slog.LevelInfo, func(a *app.App, l net.Listener) error {
				defer c.watch(cmd.Context(), a, flags)()
				socket := c.listenSocket(cfg)
				if socket != nil {
					defer socket.Close()
				}
				return c.serveOn(cmd.Context(), a, l, socket, nil)
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&c.accessLog, "access-log", false, "log each request: path, status, duration, caller")
	return cmd
}

// watch reloads the configuration when its file changes, and on SIGHUP. The returned function stops it.
func (c *command) watch(ctx context.Context, a *app.App, flags runFlags) func() {
	load := func() (*config.Config, error) {
		cfg, err := c.loadFile(a.Config().Path)
		if err == nil {
			err = flags.apply(cfg)
		}
		return cfg, err
	}
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGHUP)
	ctx, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { a.Watch(ctx, again, load) })
	return func() {
		stop()
		watching.Wait()
		signal.Stop(again)
	}
}

// withApp calls f with a gateway, and closes it afterwards.
func (c *command) withApp(ctx context.Context, cfg *config.Config, level slog.Level, f func(*app.App) error) error {
	return c.withSecretApp(ctx, cfg, level, "", f)
}

// withListener is withApp for a gateway that listens and accepts the local secret.
func (c *command) withListener(
	ctx context.Context, cfg *config.Config, level slog.Level, f func(*app.App, net.Listener) error,
) error {
	secret, err := c.openSecret()
	if err != nil {
		return err
	}
	l, err := listen(cfg.Listen)
	if err != nil {
		return err
	}
	defer l.Close()
	return c.withSecretApp(ctx, cfg, level, secret, func(a *app.App) error { return f(a, l) })
}

// withSecretApp is withApp with a local secret; "" for none.
func (c *command) withSecretApp(
	ctx context.Context, cfg *config.Config, level slog.Level, secret access.LocalSecret, f func(*app.App) error,
) error {
	if err := c.makeStateFolder(cfg); err != nil {
		return err
	}
	a, err := app.New(ctx, cfg, &app.Options{
		Version: c.env.Version, Logger: c.logger(level), Env: c.env.Lookup, Program: c.env.Program, LocalSecret: secret,
		AccessLog: c.accessLog, Home: c.env.Home,
	})
	if err != nil {
		return err
	}
	return errors.Join(f(a), a.Close())
}

// listen comes first: a gateway without its address must not start servers, which could
// disturb those of the gateway that has it.
func listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fault.New(fault.BadConfig, "cannot listen on %s: %w", address, err).
			WithHint("is another gateway running? choose another address with --listen")
	}
	return l, nil
}

// serveOn serves until ctx ends, also on the socket unless it is nil. It calls ready with the
// URL; nil prints the URL.
func (c *command) serveOn(ctx context.Context, a *app.App, l, socket net.Listener, ready func(url string)) error {
	if err := a.TakeAdminKey(ctx); err != nil {
		return err
	}
	if err := a.CheckListen(a.Config().Listen); err != nil {
		return err
	}
	url := "http://" + l.Addr().String() + a.Config().BasePath
	if ready == nil && c.log == "json" {
		ready = func(string) {} // the log says it
	}
	if ready == nil {
		ready = func(url string) {
			c.tell("toolfit %s serves %s\n  agents   %s/mcp\n  people   %s\n", c.env.Version,
				c.count(len(a.Config().Servers), "server"), url, c.page(a, url))
		}
	}
	ready(url)
	return a.Serve(ctx, l, socket)
}

// page is the address of the console; without keys, a one-time sign-in link.
func (c *command) page(a *app.App, url string) string {
	if link := a.SignInLink(); link != "" {
		return url + link + c.word("  (works once; then use: toolfit secret)")
	}
	return url + "/"
}
