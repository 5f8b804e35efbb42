package call

import (
	"cmp"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
)

// The names of the tools that this package carries out.
const (
	FetchResult  = "fetch_result"
	FindTools    = "find_tools"
	DescribeTool = "describe_tool"
	CallTool     = "call_tool"
	RunScript    = "run_script"
)

// OwnTools returns their definitions. With jq, models may send jq programs to fetch_result.
func OwnTools(jq bool) catalog.OwnTools {
	return catalog.OwnTools{Fetch: fetchDefinition(jq), Search: searchTools, Script: scriptTool}
}

// fetchDefinition is the definition of fetch_result.
func fetchDefinition(jq bool) json.RawMessage {
	jqProperty := ""
	if jq {
		jqProperty = `"jq":{"type":"string","description":"A jq program in place of fields."},`
	}
	return json.RawMessage(`{"name":"fetch_result","title":"Fetch the rest of a result",` +
		`"description":"Get what was left out of an earlier result, or the result of a call that was still running. ` +
		`A result that leaves something out says so in _omitted, with a ref. ` +
		`Give fields to choose, such as items(id,name), or offset and limit to page through rows. ` +
		`Without them: the beginning, and next_offset. A call that was still running has a ref like c_…: give wait.",` +
		`"inputSchema":{"type":"object","properties":{` +
		`"ref":{"type":"string","description":"The ref of _omitted, such as r_7f3kq2, or of a running call."},` +
		`"wait":{"anyOf":[{"type":"string"},{"type":"number"}],` +
		`"description":"How long to wait for a running call, such as 30s; at most 50s."},` +
		`"cancel":{"type":"boolean","description":"Cancel the running call."},` +
		`"fields":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"},"maxItems":64}],` +
		`"description":"Names as _omitted gives them, [\"Databases\",\"Tags\"], or a mask: a,b(c,d/e),items[:20](id), !secret to leave out."},` +
		jqProperty + `"offset":{"type":"integer","minimum":0,"description":"The first row, or character of a text."},` +
		`"limit":{"type":"integer","minimum":1,"description":"How many rows or characters at most."}},` +
		`"required":["ref"],"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}`)
}

// searchTools are the definitions of the search tools. The overview says what there is to find.
func searchTools(overview string) []json.RawMessage {
	find := rawjson.AppendString([]byte(`{"name":"find_tools","title":"Find tools","description":`),
		"Find tools by what they do, and get their signatures; then use call_tool. There are tools of: "+cmp.Or(overview, "no server yet")+
			". Search here before you take another way or say that something cannot be done. Ask for one thing at a time.")
	find = append(find, `,"inputSchema":{"type":"object","properties":{`+
		`"query":{"type":"string","minLength":1,"description":"What is to be done, in a few words, or a tool's name."},`+
		`"limit":{"type":"integer","minimum":1,"maximum":50,"default":5,"description":"How many tools at most."},`+
		`"detail":{"type":"string","enum":["name","sig","full"],"default":"sig",`+
		`"description":"How much to return for each: its name, its signature, or everything."}},`+
		`"required":["query"],"additionalProperties":false},"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}`...)
	return []json.RawMessage{find, describeDefinition, callDefinition}
}

// scriptTool is the definition of run_script. The overview says of which servers there are tools.
func scriptTool(overview string) json.RawMessage {
	def := rawjson.AppendString([]byte(`{"name":"run_script","title":"Run a script","description":`),
		"Run JavaScript that calls tools, and get only what it returns: for many calls, or to filter, join or count results. "+
			"code is the body of an async function. There is one global for each server: await shop.list_orders({status: \"open\"}), "+
			"or tools[\"name\"](args). A call answers with the tool's result as a value, and throws an Error with code and hint if it fails. "+
			"Use Promise.all for calls at the same time. There are also input, search(query), describe(name) for types, console.log and sleep(ms); "+
			"no network, files or timers. Integers over 2^53 are BigInts: 9007199254740993n. Return little. Servers: "+cmp.Or(overview, "none yet")+".")
	return append(def, `,"inputSchema":{"type":"object","properties":{`+
		`"code":{"type":"string","minLength":1,"description":"JavaScript, such as: const o = await shop.list_orders({}); return o.length"},`+
		`"input":{"description":"A value for the script, as the global input."}},`+
		`"required":["code"],"additionalProperties":false},"annotations":{"openWorldHint":false}}`...)
}

var describeDefinition = json.RawMessage(`{"name":"describe_tool","title":"Describe a tool",` +
	`"description":"Get all about one tool: its description and the schema of its arguments. ` +
	`Needed only where the signature that find_tools gives does not say enough.",` +
	`"inputSchema":{"type":"object","properties":{` +
	`"name":{"type":"string","minLength":1,"description":"The tool's name, as find_tools gives it."},` +
	`"detail":{"type":"string","enum":["full","ts"],"default":"full",` +
	`"description":"ts: a TypeScript declaration in place of the schema."}},` +
	`"required":["name"],"additionalProperties":false},"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}`)

var callDefinition = json.RawMessage(`{"name":"call_tool","title":"Call a tool",` +
	`"description":"Call a tool that find_tools has found. The result is the tool's own.",` +
	`"inputSchema":{"type":"object","properties":{` +
	`"name":{"type":"string","minLength":1,"description":"The tool's name, as find_tools gives it."},` +
	`"arguments":{"type":"object","description":"The tool's arguments, as its signature names them."}},` +
	`"required":["name"],"additionalProperties":false}}`)
