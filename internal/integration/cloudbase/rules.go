package cloudbase

import (
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/shape"
)

// keptOfList is what a model needs of a list. The rest can be fetched.
const keptOfList = "EnvList[:](EnvId,Alias,Status,EnvType,Region,PackageName,IsDefault),TotalCount,Offset,Limit,HasMore,AppliedFilters"

// Rules are the default rules for lists of a server, under each name of the tool. Calls that name
// fields are excluded.
func Rules(server tool.ServerID) []project.Rule {
	var rules []project.Rule
	for _, name := range []string{"envQuery", "queryEnv", "listEnvs"} {
		when := map[string]any{"fields": nil}
		if name != "listEnvs" {
			when["action"] = "list"
		}
		rules = append(rules, project.Rule{
			ID: string(server) + "-" + name + "-list", Tool: string(tool.Canonical(server, name)), When: when,
			Keep: keptOfList, Shape: shape.JSON, // rows stay rows: callers read the array
		})
	}
	return rules
}
