package env

// The schemas of the protocol. They have no references, which some providers cannot follow.
const (
	metadataSchema = `{"type":"object","description":"Values of any kind, by name"}`

	roleSchema  = `{"type":"string","enum":["primary","sub"]}`
	levelSchema = `{"type":"string","enum":["debug","info","warn","error"]}`
	timeSchema  = `{"type":"string","format":"date-time","description":"RFC 3339, such as 2026-01-02T15:04:05Z"}`
	namesSchema = `{"type":"array","items":{"type":"string"}}`
	idSchema    = `{"type":"string","minLength":1,"maxLength":200}`
	limitSchema = `{"type":"integer","minimum":1,"maximum":1000,"default":100}`

	agentSchema = `{"type":"object","required":["id","role"],"properties":{"id":{"type":"string"},"role":` + roleSchema + `,` +
		`"promptId":{"type":"string"},"promptOverride":{"type":"string"},"allowedTools":` + namesSchema + `,` +
		`"deniedTools":` + namesSchema + `,"metadata":` + metadataSchema + `}}`
	agentsSchema = `{"type":"array","items":` + agentSchema + `}`

	profileSchema = `{"type":"object","required":["id","displayName","primaryAgents"],"properties":{"id":{"type":"string"},` +
		`"displayName":{"type":"string"},"primaryAgents":` + agentsSchema + `,"subAgents":` + agentsSchema + `,"metadata":` +
		metadataSchema + `}}`
	profilesSchema = `{"type":"array","items":` + profileSchema + `}`

	capabilitiesSchema = `{"type":"object","description":"The supported features; there may be others","properties":{` +
		`"logs":{"type":"boolean"},"events":{"type":"boolean"},"metrics":{"type":"boolean"},"profiles":{"type":"boolean"},` +
		`"mcpTools":{"type":"boolean"},"sessions":{"type":"boolean"}}}`

	descriptionSchema = `{"type":"object","required":["id","displayName","capabilities"],"properties":{"id":{"type":"string"},` +
		`"displayName":{"type":"string"},"version":{"type":"string"},"capabilities":` + capabilitiesSchema + `,` +
		`"profiles":` + profilesSchema + `,"metadata":` + metadataSchema + `}}`

	logSchema = `{"type":"object","required":["timestamp","level","message"],"properties":{"timestamp":` + timeSchema + `,` +
		`"level":` + levelSchema + `,"message":{"type":"string"},"sessionId":{"type":"string"},"agentId":{"type":"string"},` +
		`"toolName":{"type":"string"},"context":` + metadataSchema + `}}`

	sessionSchema = `{"type":"object","required":["id","title","time"],"properties":{"id":{"type":"string"},"parentID":{"type":"string"},` +
		`"title":{"type":"string"},"directory":{"type":"string"},"time":{"type":"object","required":["created","updated"],` +
		`"properties":{"created":` + timeSchema + `,"updated":` + timeSchema + `}},"metadata":` + metadataSchema + `}}`

	errorSchema = `{"type":"object","required":["error"],"properties":{"error":{"type":"string"}}}`
)

// takes is the schema of arguments.
func takes(properties string, required string) string {
	s := `{"type":"object","properties":{` + properties + `},"additionalProperties":false`
	if required != "" {
		s += `,"required":[` + required + `]`
	}
	return s + `}`
}

// gives is the schema of an answer with one list.
func gives(name, list, more string) string {
	return `{"type":"object","required":["` + name + `"],"properties":{"` + name + `":` + list + more + `}}`
}
