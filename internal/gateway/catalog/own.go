package catalog

import (
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/state/config"
)

// FetchResult is the tool of ours by which a model gets what was left out of a result.
const FetchResult = "fetch_result"

var fetchDefinition = json.RawMessage(`{"name":"fetch_result","title":"Fetch the rest of a result",` +
	`"description":"Get what was left out of an earlier result. A result that leaves something out says so in _omitted, with a ref. Give fields to choose, such as items(id,name), or offset and limit to page through rows. Without them: the beginning, and next_offset.",` +
	`"inputSchema":{"type":"object","properties":{` +
	`"ref":{"type":"string","description":"The ref of _omitted, such as r_7f3kq2."},` +
	`"fields":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"},"maxItems":64}],"description":"Names as _omitted gives them, [\"Databases\",\"Tags\"], or a mask: a,b(c,d/e),items[:20](id), !secret to leave out."},` +
	`"offset":{"type":"integer","minimum":0,"description":"The first row, or character of a text."},` +
	`"limit":{"type":"integer","minimum":1,"description":"How many rows or characters at most."}},` +
	`"required":["ref"],"additionalProperties":false},` +
	`"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}`)

// jqProperty lets a model choose by a program, where programs of models can be run apart.
var jqProperty = `"jq":{"type":"string","description":"A jq program in place of fields."},`

// addOwn puts a tool of ours in; nil where that is not wanted. The profile's deny holds for it, its allow is about servers.
func (v *View) addOwn(p config.Profile, raw json.RawMessage) *Entry {
	def, err := tool.ParseDefinition(raw)
	if err != nil || matches(p.Deny, def.Name) {
		return nil // a test reads every definition
	}
	e := &Entry{Shown: def.Name, Name: tool.Name(def.Name), Definition: def, Own: true}
	if e.fitters.own, err = fit.Compile(def.InputSchema(), nil); err != nil {
		return nil
	}
	v.Entries = append(v.Entries, e)
	v.byShown[e.Shown], v.byName[e.Name] = e, e
	return e
}
