package cloudbase

import (
	_ "embed"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// toolsText is the listed tools, envPick last. Their old names work too, but are not listed: a
// model needs no second name for the same thing, and pays for each.
//
//go:embed tools.json
var toolsText []byte

func listTools(picks bool) json.RawMessage {
	var tools []json.RawMessage
	if err := json.Unmarshal(toolsText, &tools); err != nil {
		panic("cloudbase: read tools.json: " + err.Error())
	}
	if !picks {
		tools = tools[:len(tools)-1]
	}
	return rawjson.Encode(map[string]any{"tools": tools})
}

// actionsOf are the actions of each tool. An old name stands for one action.
var actionsOf = map[string][]string{
	"envQuery":          {"list", "info", "domains", "hosting"},
	"queryEnv":          {"list", "info", "domains", "usage", "metrics"},
	"listEnvs":          {"list"},
	"getEnvInfo":        {"info"},
	"getEnvAuthDomains": {"domains"},
	"getWebsiteConfig":  {"hosting"},
}
