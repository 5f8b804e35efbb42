package app

import (
	"context"
	"io"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
)

// ServeStdio serves one client on a pair of pipes until its input ends.
func (a *App) ServeStdio(ctx context.Context, profile string, in io.Reader, out io.Writer) error {
	return a.serveStdio(ctx, profile, a.front.Entry, in, out)
}

// ServeEnvironment serves one client on a pair of pipes: the profile as an environment.
func (a *App) ServeEnvironment(ctx context.Context, profile string, in io.Reader, out io.Writer) error {
	return a.serveStdio(ctx, profile, a.front.EnvironmentEntry, in, out)
}

// stdioOwner owns the sessions on pipes, which no key concerns.
const stdioOwner = "stdio"

func (a *App) serveStdio(ctx context.Context, profile string, enter func(access.Principal, string) mcp.Entry, in io.Reader, out io.Writer) error {
	who := access.Owner()
	view, err := a.Catalog.ViewFor(who, profile)
	if err != nil {
		return err
	}
	entry := enter(who, view.Profile)
	entry.Owner = stdioOwner
	return mcp.ServeStdio(ctx, in, out, a.sessions, entry, &mcp.StdioOptions{
		MaxLine: int(a.started.Limits.Body), Logger: a.log,
	})
}
