package app

import (
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/integration/gatewayenv"
)

// environment makes the gateway an environment, and returns the tools by which it is one.
func (a *App) environment() (map[string]call.OwnTool, error) {
	a.Env = gatewayenv.New(gatewayenv.Parts{
		Config: a.Config, Catalog: a.Catalog, Store: a.Store, Version: a.opts.Version,
		Served: func() bool { return a.address.Load() != nil }, Recent: a.Records.Last, Redact: a.secrets.redact, Logger: a.log,
	})
	return a.Env.Tools()
}
