package app

import (
	"github.com/toolfit/toolfit/internal/cloudbase"
	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/project"
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
