package app

import (
	"context"
	"io"

	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/mcp"
)

// ServeStdio serves one client on a pair of pipes until its input ends.
func (a *App) ServeStdio(ctx context.Context, profile string, in io.Reader, out io.Writer) error {
	who := access.Local()
	profile, err := who.ProfileFor(profile)
	if err != nil {
		return err
	}
	if _, err := a.Catalog.View(profile); err != nil {
		return err
	}
	return mcp.ServeStdio(ctx, in, out, a.sessions, a.agents.Entry(who, profile), &mcp.StdioOptions{
		MaxLine: int(a.started.Limits.Body), Logger: a.log,
	})
}
