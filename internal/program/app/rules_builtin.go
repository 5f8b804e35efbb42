package app

import (
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/integration/cloudbase"
	"github.com/toolfit/toolfit/internal/state/config"
)

// builtinRules come with a server of ours, whatever its name. They yield to every rule of
// the file and the store for the same tool.
func builtinRules(s config.Server) []project.Rule {
	switch s.Builtin {
	case "cloudbase", "demo-cloud":
		return cloudbase.Rules(s.ID)
	}
	return nil
}
