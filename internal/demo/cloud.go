package demo

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/toolfit/toolfit/internal/mcp"
)

const envQueryTool = `{
	"name": "envQuery",
	"title": "Query cloud environments",
	"description": "Read cloud environments of this account. action=list gives all environments with every field; action=info gives one environment; action=domains gives the domains that may call it from a browser; action=hosting gives its static website hosting. All but list need envId.",
	"inputSchema": {
		"type": "object",
		"properties": {
			"action": {
				"type": "string",
				"enum": ["list", "info", "domains", "hosting"],
				"description": "What to read."
			},
			"envId": {
				"type": "string",
				"minLength": 1,
				"maxLength": 64,
				"description": "The EnvId of one environment, as list gives it. Required for info, domains and hosting; narrows list to one row."
			}
		},
		"required": ["action"],
		"additionalProperties": false
	},
	"annotations": {
		"title": "Query cloud environments",
		"readOnlyHint": true,
		"destructiveHint": false,
		"idempotentHint": true,
		"openWorldHint": false
	}
}`

// cloud is the state behind the server: its rows, which nothing changes.
type cloud struct {
	envs []environment
}

// Cloud makes the server "cloud": 40 environments behind one tool, envQuery, whose list
// is far larger than what a reader needs of it.
func Cloud() mcp.Handler {
	c := &cloud{envs: environments()}
	return newServer([]entry{{envQueryTool, c.envQuery}})
}

type envList struct {
	EnvList    []environment
	TotalCount int
}

func (c *cloud) envQuery(_ context.Context, raw json.RawMessage, _ *mcp.Request) (json.RawMessage, error) {
	in := readArgs(raw)
	action := in.choice("action", "list", "info", "domains", "hosting")
	id := in.textIf("envId", 64)
	if action != "list" && id == "" {
		in.refuse("envId", "the EnvId of an environment for action "+action, nil)
	}
	if err := in.done(); err != nil {
		return nil, err
	}
	if id == "" {
		return answer(envList{c.envs, len(c.envs)})
	}
	env, err := c.find(id)
	if err != nil {
		return nil, err
	}
	switch action {
	case "domains":
		return answer(domainsOf(env))
	case "hosting":
		return answer(hostingOf(env))
	}
	return answer(envList{[]environment{env}, 1})
}

func (c *cloud) find(id string) (environment, error) {
	ids := make([]string, len(c.envs))
	for i, env := range c.envs {
		if env.EnvID == id {
			return env, nil
		}
		ids[i] = env.EnvID
	}
	return environment{}, refusef("envId: there is no environment %q; near ids are %s", id, strings.Join(near(id, ids), ", "))
}
