package catalog

import (
	"reflect"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/core/scan"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// Mark is something that can be said of a tool in few words.
type Mark string

const (
	MarkReadOnly    Mark = "read-only" // as its server says, like the next three
	MarkDestructive Mark = "destructive"
	MarkOpenWorld   Mark = "open-world"
	MarkIdempotent  Mark = "idempotent"
	MarkApp         Mark = "app"        // an app shows its results
	MarkTask        Mark = "task"       // its calls can run as tasks
	MarkOverridden  Mark = "overridden" // callers see another definition than its server's
	MarkSuspicious  Mark = "suspicious" // the scan has found something in it
	MarkHeld        Mark = "held"       // it waits for approval
	MarkKeptOut     Mark = "kept-out"
	MarkDenied      Mark = "denied"   // by the policy or the profile
	MarkLeftOut     Mark = "left-out" // not shown for another reason
)

// Marks are all marks, in the order in which they are shown.
var Marks = []Mark{
	MarkHeld, MarkKeptOut, MarkDenied, MarkLeftOut, MarkSuspicious, MarkOverridden, MarkDestructive, MarkReadOnly, MarkIdempotent,
	MarkOpenWorld, MarkApp, MarkTask,
}

// Row is a tool of a server that the profile has, shown or not.
type Row struct {
	*Entry
	Why    Reason // why the profile does not show it; "": it does
	Tokens int    // of the definition as callers would see it, estimated
	Marks  []Mark // without MarkSuspicious
}

// Rows are the tools of the profile's servers in the order of the list, with those that are not shown, and our own at the end.
func (v *View) Rows() []Row {
	v.rowsOnce.Do(func() {
		for _, p := range v.parts {
			if p != nil && p.sees {
				v.rows = append(v.rows, p.rows()...)
			}
		}
		for _, e := range v.Entries {
			if e.Own {
				v.rows = append(v.rows, newRow(e, ""))
			}
		}
	})
	return v.rows
}

// Row is the tool that has the name in the profile, or would have it; false: there is none.
func (v *View) Row(name string) (Row, bool) {
	if e := v.shown(name); e != nil {
		return newRow(e, ""), true
	}
	for _, r := range v.Rows() {
		if r.Shown == name {
			return r, true
		}
	}
	return Row{}, false
}

func (p *part) rows() []Row {
	entries := make(map[*sourceTool]*Entry, len(p.all))
	shown := make(map[*sourceTool]bool, len(p.kept))
	for _, e := range p.all {
		entries[e.of] = e
	}
	for _, e := range p.kept {
		shown[e.of] = true
	}
	reasons := make(map[string]Reason, len(p.notShown))
	for _, n := range p.notShown {
		reasons[n.Tool] = n.Reason
	}
	rows := make([]Row, 0, len(p.from.tools))
	for _, t := range p.from.tools {
		e, why := entries[t], reasons[t.def.Name]
		switch {
		case shown[t]:
			why = ""
		case why == "": // another tool has its name
			continue
		case e == nil:
			e = &Entry{Shown: t.names.prefixed, Name: t.name, Server: t.from.id, Definition: t.def, Tasks: t.tasks, of: t, fits: t.fits}
		}
		rows = append(rows, newRow(e, why))
	}
	return rows
}

func newRow(e *Entry, why Reason) Row {
	return Row{e, why, tokens.Estimate(e.Raw()), marksOf(e, why)}
}

// marksOf are the marks of a tool. What a server does not say is not said here either.
func marksOf(e *Entry, why Reason) (marks []Mark) {
	add := func(mark Mark, is bool) {
		if is {
			marks = append(marks, mark)
		}
	}
	add(MarkHeld, why == NotApproved)
	add(MarkKeptOut, why == KeptOut)
	add(MarkDenied, why == Denied || why == NotInProfile)
	add(MarkLeftOut, len(marks) == 0 && why != "")
	add(MarkOverridden, e.Overridden() || why == Hidden || why == BadOverride)
	if hints := rawjson.Get(e.Definition.Raw, "annotations"); hints != nil {
		says := func(hint string) bool { return string(rawjson.Get(hints, hint)) == "true" }
		add(MarkDestructive, says("destructiveHint"))
		add(MarkReadOnly, says("readOnlyHint"))
		add(MarkIdempotent, says("idempotentHint"))
		add(MarkOpenWorld, says("openWorldHint"))
	}
	add(MarkApp, e.App() != "")
	add(MarkTask, e.Tasks != "")
	return marks
}

// Overridden tells whether the configuration changes what callers see of the tool.
func (e *Entry) Overridden() bool {
	return e.changed != nil && !reflect.DeepEqual(e.Override.Override, fit.Override{})
}

// Suspects are the tools of each server in which the scan finds something suspicious.
func (c *Catalog) Suspects() map[tool.ServerID]map[string]bool {
	suspects := map[tool.ServerID]map[string]bool{}
	for id, found := range c.allFindings() {
		suspects[id] = map[string]bool{}
		for p, one := range found {
			if p.kind == ToolKind && scan.Suspicious(one.findings) {
				suspects[id][p.name] = true
			}
		}
	}
	return suspects
}
