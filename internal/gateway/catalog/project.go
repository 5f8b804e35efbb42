package catalog

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/clean"
	"github.com/toolfit/toolfit/internal/core/project/shape"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Results says how one profile's results are cut for models. It is immutable.
type Results struct {
	Rules   *project.Rules
	How     project.How    // defaults without a rule: the budget, the shape, and whether empty members are dropped
	Keep    string         // which full results are stored: cut, all or none
	Cleaner *clean.Cleaner // nil: text stays as it is
}

// resultsOf makes a profile's Results.
func resultsOf(cfg *config.Config, p config.Profile, rules *project.Rules) Results {
	how := project.How{Budget: p.Budget, TextBudget: p.TextBudget, Shape: shape.Mode(p.Shape), Filled: p.DropEmpty}
	if how.Shape == shape.Off {
		how.Shape = ""
	}
	r := Results{Rules: rules, How: how, Keep: cfg.ResultStore}
	if p.Safety != (config.Safety{}) {
		opts := clean.Options{Strip: p.Safety.Strip, Tokens: p.Safety.Secrets, Mark: p.Safety.Mark}
		if p.Safety.Secrets {
			opts.Secrets = cfg.Secrets
		}
		r.Cleaner = clean.New(opts)
	}
	return r
}

// cuts tells whether results of the view's tools may be cut, so that there is something to fetch.
func (v *View) cuts(tools int) bool {
	switch how := v.Results.How; {
	case v.Results.Keep == "none":
		return false
	case how.Budget > 0, how.Filled, v.paging, how.TextBudget > 0 && tools > 0:
		return true
	}
	return slices.ContainsFunc(v.parts, func(p *part) bool { return p != nil && p.cuts })
}

// addFetch adds fetch_result if there may be something to fetch or to collect. Without it, nothing is cut or detached by default.
func (v *View) addFetch(p config.Profile, fetch json.RawMessage, tools int) bool {
	cuts := v.cuts(tools)
	added := (cuts || v.detaches()) && v.addOwn(p, fetch) != nil
	if !cuts || !added {
		v.Results.How.TextBudget = 0
	}
	return added
}

// detaches tells whether calls of the view's tools may detach, so that there is something to collect.
func (v *View) detaches() bool {
	return slices.ContainsFunc(v.parts, func(p *part) bool { return p != nil && p.detaches })
}

// promised is a definition with the output schema of what is sent: a cut result may not match the server's schema.
func (v *View) promised(e *Entry, def []byte) []byte {
	output := rawjson.Get(def, "outputSchema")
	if output == nil || e.Own || v.renders && e.App() != "" { // an app gets all of it
		return def
	}
	rules, always := v.Results.Rules.MayApply(e.Name, v.Profile)
	if len(rules) == 0 && v.Results.How.Budget == 0 && !v.paging {
		return def
	}
	var sent []byte
	if !v.paging { // a caller may ask for any fields
		sent = project.OutputSchema(output, rules, always, v.Results.How.Budget)
	}
	if sent == nil {
		return mcp.Without(def, "outputSchema")
	}
	return mcp.Edit(def, "outputSchema", func([]byte) []byte { return sent })
}

// The arguments by which callers choose fields and pages.
var pagingArguments = []struct{ name, schema string }{
	{"_fields", `{"type":"string","description":"Only these fields of the result, such as items(id,name)."}`},
	{"_limit", `{"type":"integer","minimum":1,"description":"At most so many rows of the result."}`},
	{"_offset", `{"type":"integer","minimum":0,"description":"Begin at this row of the result."}`},
}

// withPaging adds the paging arguments to a schema, unless the tool has such an argument itself or its properties are not known.
func withPaging(schema json.RawMessage) (json.RawMessage, bool) {
	var at rawjson.Walk
	found := false
	end := 0
	for w := rawjson.Object(schema); w.Next(); {
		switch string(w.Key) {
		case "properties":
			at = w
			found = w.Value[0] == '{'
			if !found {
				return schema, false
			}
		case "$ref", "allOf", "anyOf", "oneOf": // the properties are elsewhere
			end = -1
		case "type":
			if end == 0 && string(w.Value) == `"object"` {
				end = w.End
			}
		}
	}
	switch {
	case found:
		return addPaging(schema, at)
	case end <= 0:
		return schema, false
	}
	// A tool without arguments has a schema without properties.
	edit := rawjson.Edit{Start: end, End: end, New: []byte(`,"properties":{}`)}
	return withPaging(rawjson.AppendSplice(make([]byte, 0, len(schema)+256), schema, edit))
}

// addPaging adds the arguments to the properties that the iteration stopped at.
func addPaging(schema json.RawMessage, at rawjson.Walk) (json.RawMessage, bool) {
	var added []byte
	for _, arg := range pagingArguments {
		if rawjson.Get(at.Value, arg.name) != nil {
			return schema, false
		}
		added = append(append(added, `,"`+arg.name+`":`...), arg.schema...)
	}
	if len(bytes.TrimSpace(at.Value[1:len(at.Value)-1])) == 0 {
		added = added[1:]
	}
	end := at.Start + bytes.LastIndexByte(at.Value, '}')
	edit := rawjson.Edit{Start: end, End: end, New: added}
	return rawjson.AppendSplice(make([]byte, 0, len(schema)+len(added)), schema, edit), true
}
