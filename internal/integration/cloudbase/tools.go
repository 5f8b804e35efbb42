package cloudbase

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// The tools that are listed. Their old names are taken too but not listed: a model needs no
// second name for the same thing, and pays for each.
const (
	listProperties = `
		"alias": {"type": "string", "minLength": 1, "maxLength": 128, "description": "list: only environments whose alias holds this text, in any case."},
		"aliasExact": {"type": "boolean", "description": "list: alias must be the whole alias, exactly."},
		"envId": {"type": "string", "minLength": 1, "maxLength": 64, "description": "list: only this environment. Otherwise: the environment to read; left out, the one that the server is bound to."},
		"region": {"type": "string", "minLength": 1, "maxLength": 64, "description": "list: only environments of this region, such as ap-shanghai."},
		"limit": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "list: at most so many rows."},
		"offset": {"type": "integer", "minimum": 0, "maximum": 1000000, "description": "list: skip so many rows."},
		"fields": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 256}, "minItems": 1, "maxItems": 64, "description": "list: the fields of a row to give instead of the usual ones, such as [\"EnvId\",\"PackageId\",\"Databases(InstanceId,Status)\"]."}`

	readOnly = `"annotations": {"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true}`

	envQueryTool = `{
	"name": "envQuery",
	"title": "Query cloud environments",
	"description": "Read the CloudBase environments of this account. action=list gives all of them, info one, domains the domains that may call it from a browser, hosting its static website hosting.",
	"inputSchema": {
		"type": "object",
		"properties": {
			"action": {"type": "string", "enum": ["list", "info", "domains", "hosting"], "description": "What to read."},` + listProperties + `
		},
		"required": ["action"],
		"additionalProperties": false
	},
	` + readOnly + `
}`

	queryEnvTool = `{
	"name": "queryEnv",
	"title": "Query cloud environments and their usage",
	"description": "Read the CloudBase environments of this account. action=list gives all of them, info one, domains the domains that may call it from a browser, usage how much of a quota is used, metrics a metric over time.",
	"inputSchema": {
		"type": "object",
		"properties": {
			"action": {"type": "string", "enum": ["list", "info", "domains", "usage", "metrics"], "description": "What to read."},` + listProperties + `,
			"metric": {"type": "string", "minLength": 1, "maxLength": 64, "description": "usage, metrics: the name of the metric, such as DbReadpkg for usage or FunctionInvocation for metrics."},
			"startTime": {"type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$", "description": "metrics: from when, in Beijing time, as 2026-01-02 15:04:05; left out, a day ago."},
			"endTime": {"type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$", "description": "metrics: until when; left out, now."}
		},
		"required": ["action"],
		"additionalProperties": false
	},
	` + readOnly + `
}`

	envPickTool = `{
	"name": "envPick",
	"title": "Let a person pick a cloud environment",
	"description": "Ask a person which CloudBase environment to use. Gives a link to a page with all environments. Where the client cannot show the link itself, the first answer holds the link and a wait: show the link to the person, then call envPick again with that wait alone. Answers {envId}, {cancelled: true} or {switch: true} (the person wants another account).",
	"inputSchema": {
		"type": "object",
		"properties": {
			"message": {"type": "string", "minLength": 1, "maxLength": 500, "description": "What the person should know, in a sentence."},
			"timeout": {"type": "integer", "minimum": 1, "maximum": 3600, "description": "Seconds that the person has; left out, 600."},
			"wait": {"type": "string", "minLength": 1, "maxLength": 64, "description": "The wait of an earlier answer, to go on waiting for it. Goes alone."}
		},
		"additionalProperties": false
	},
	"annotations": {"readOnlyHint": true, "destructiveHint": false, "idempotentHint": false, "openWorldHint": true}
}`
)

// listTools is the result of tools/list.
func listTools(picks bool) json.RawMessage {
	definitions := []string{envQueryTool, queryEnvTool}
	if picks {
		definitions = append(definitions, envPickTool)
	}
	list := bytes.NewBufferString(`{"tools":[`)
	for i, d := range definitions {
		if i > 0 {
			list.WriteByte(',')
		}
		if err := json.Compact(list, []byte(d)); err != nil {
			panic(fmt.Sprintf("cloudbase: compact definition %d: %v", i, err)) // a constant of ours
		}
	}
	list.WriteString(`]}`)
	return list.Bytes()
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
