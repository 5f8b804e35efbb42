package cloudbase

import (
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/shape"
)

// keptOfList is what a model needs of a list: which environments there are, what they are,
// and whether these are all. The rest stays one fetch away. What is no array is left alone.
const keptOfList = "EnvList[:](EnvId,Alias,Status,EnvType,Region,PackageName,IsDefault),TotalCount,Offset,Limit,HasMore,AppliedFilters"

// Rules are what is kept of the server's results where no other rule says more, for a server
// of any name. They hold for lists, under each name that the tool has, and for nothing else;
// a call that names fields itself gets those.
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
