package restapi

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/core/scan"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/schema"
)

// ToolQuery selects tools of a profile.
type ToolQuery struct {
	Profile       string         // "": the caller's own
	Server        tool.ServerID  // "": all
	Marks         []catalog.Mark // that each of them has
	Offset, Limit int            // of the rows of one server; without one, Limit is for all rows together
}

// ToolPage is tools by their servers.
type ToolPage struct {
	Groups  []ToolGroup          // of the servers with tools that match
	Servers []tool.ServerID      // all of the profile that have tools
	Count   map[catalog.Mark]int // of the tools that match
	ToolSums
}

// ToolSums are sums over tools that match.
type ToolSums struct {
	Total  int
	Hidden int // that the profile does not show
	Tokens int // of the definitions of the others, estimated
}

// ToolGroup is the tools of a server that match.
type ToolGroup struct {
	Server tool.ServerID // "": toolfit itself
	ToolSums
	Rows []ToolRow // nil: they are too many to give those of all servers

	all []catalog.Row
}

// ToolRow is a tool in a list.
type ToolRow struct {
	Name        string
	Own         string // the server's name for it, where the shown one does not say it
	Server      tool.ServerID
	Description string
	Tokens      int            // of the definition, estimated
	Marks       []catalog.Mark // beside that for Why
	Why         catalog.Reason // why callers do not see it; "": they do
	Rule        string         // of the policy that denies it; "": none
}

// PageTools returns the tools that the caller may see. Those who may read everything see the others too, and why they are not shown.
func (a *API) PageTools(who access.Principal, q ToolQuery) (ToolPage, error) {
	v, err := a.viewOf(who, q.Profile)
	if err != nil {
		return ToolPage{}, err
	}
	var suspects map[tool.ServerID]map[string]bool
	if who.MayRead() {
		suspects = a.Catalog.Suspects()
	}
	page := ToolPage{Count: map[catalog.Mark]int{}}
	for _, r := range v.Rows() {
		if r.Why != "" && !who.MayRead() {
			continue
		}
		if r.Server != "" && (len(page.Servers) == 0 || page.Servers[len(page.Servers)-1] != r.Server) {
			page.Servers = append(page.Servers, r.Server)
		}
		if q.Server != "" && r.Server != q.Server {
			continue
		}
		if suspects[r.Server][r.Definition.Name] {
			r.Marks = append(slices.Clip(r.Marks), catalog.MarkSuspicious)
		}
		if !slices.ContainsFunc(q.Marks, func(m catalog.Mark) bool { return !slices.Contains(r.Marks, m) }) {
			page.add(r)
		}
	}
	slices.Sort(page.Servers)
	page.fill(v, who, q)
	return page, nil
}

// Names are the shown names of all tools that match, not only of those on the page.
func (p *ToolPage) Names() map[string]bool {
	names := map[string]bool{}
	for _, g := range p.Groups {
		for _, r := range g.all {
			names[r.Shown] = true
		}
	}
	return names
}

func (p *ToolPage) add(r catalog.Row) {
	if len(p.Groups) == 0 || p.Groups[len(p.Groups)-1].Server != r.Server {
		p.Groups = append(p.Groups, ToolGroup{Server: r.Server})
	}
	g := &p.Groups[len(p.Groups)-1]
	g.all = append(g.all, r)
	for _, sums := range []*ToolSums{&p.ToolSums, &g.ToolSums} {
		sums.Total++
		if r.Why != "" {
			sums.Hidden++
		} else {
			sums.Tokens += r.Tokens
		}
	}
	for _, m := range r.Marks {
		p.Count[m]++
	}
}

// fill makes the rows that the query asks for. Our own tools are few, and always among them.
func (p *ToolPage) fill(v *catalog.View, who access.Principal, q ToolQuery) {
	for i := range p.Groups {
		g := &p.Groups[i]
		rows := g.all
		switch {
		case q.Server != "":
			rows = rows[min(q.Offset, len(rows)):min(q.Offset+q.Limit, len(rows))]
		case g.Server != "" && p.Total > q.Limit:
			continue
		}
		for _, r := range rows {
			row := ToolRow{r.Shown, ownName(r.Entry), r.Server, start(r.Description()), r.Tokens, besides(r.Marks, r.Why), r.Why, ""}
			if r.Why == catalog.Denied {
				row.Rule = denies(v, who, r.Entry)
			}
			g.Rows = append(g.Rows, row)
		}
	}
}

// start is the first words of a description, which is one line in a list.
func start(description string) string {
	const most = 160
	if runes := []rune(description); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return description
}

// besides are the marks besides the reason why a tool is not shown, in the order in which they are shown.
func besides(marks []catalog.Mark, why catalog.Reason) []catalog.Mark {
	place := func(a, b catalog.Mark) int { return slices.Index(catalog.Marks, a) - slices.Index(catalog.Marks, b) }
	marks = slices.SortedFunc(slices.Values(marks), place)
	if why != "" {
		return marks[1:]
	}
	return marks
}

// denies is the rule of the policy that denies the tool to the caller, whatever the arguments are; "": none does. Only those who
// may read the policy are told.
func denies(v *catalog.View, who access.Principal, e *catalog.Entry) string {
	d := v.Decide(who, e, nil, time.Now())
	if d.Verdict != policy.Deny || d.Rule == nil || !who.MayRead() {
		return ""
	}
	return d.Rule.Name
}

// ownName is the server's name for a tool, if the shown name does not end with it: it may be hashed
// or renamed.
func ownName(e *catalog.Entry) string {
	_, own, _ := e.Name.Split()
	if strings.HasSuffix(e.Shown, own) {
		return ""
	}
	return own
}

// FindTools searches as a model does.
func (a *API) FindTools(ctx context.Context, who access.Principal, profile string, q call.Query) (*call.Found, error) {
	v, err := a.viewOf(who, profile)
	if err != nil {
		return nil, err
	}
	return a.Caller.Search(ctx, who, v.Profile, q)
}

// OneTool is a tool and what it costs.
type OneTool struct {
	Tool
	Own         string          // the server's name for it, where the shown one does not say it
	InputSchema json.RawMessage // of what is shown
	Tokens      int             // of the definition, estimated
	Marks       []catalog.Mark
	Why         catalog.Reason                   // why callers do not see it; "": they do
	Rule        string                           // of the policy that denies it; "": none
	Fitted      map[schema.Dialect]schema.Fitted // in each dialect, which may fall back to another
	Findings    []scan.Finding                   // what the scan found in it; this and the next only for those who may read what is held
	Override    *fit.Override                    // what the configuration changes; nil: nothing
	Original    json.RawMessage                  // the definition without that; nil: it is the same
}

// ShowTool returns a tool as its server sent it, and in each dialect.
func (a *API) ShowTool(ctx context.Context, who access.Principal, profile, name string) (OneTool, error) {
	v, r, err := a.rowOf(who, profile, name)
	if err != nil {
		return OneTool{}, err
	}
	e := r.Entry
	one := OneTool{Tool: oneTool(e), Own: ownName(e), InputSchema: e.InputSchema(), Tokens: r.Tokens, Why: r.Why, Fitted: fitAlone(v, e)}
	one.Result = a.Caller.ResultType(ctx, v, e)
	if r.Why == catalog.Denied {
		one.Rule = denies(v, who, e)
	}
	if who.MayRead() {
		one.Findings = a.Catalog.Findings(e.Server, e.Definition.Name)
		if scan.Suspicious(one.Findings) {
			r.Marks = append(slices.Clip(r.Marks), catalog.MarkSuspicious)
		}
		if e.Overridden() {
			one.Override = &e.Override.Override
			one.Original = e.Definition.Raw
		}
	}
	one.Marks = besides(r.Marks, r.Why)
	return one, nil
}

// rowOf finds a tool by its name in the profile. Those who may read everything find what the profile does not show, too.
func (a *API) rowOf(who access.Principal, profile, name string) (*catalog.View, catalog.Row, error) {
	v, err := a.viewOf(who, profile)
	if err != nil {
		return nil, catalog.Row{}, err
	}
	if r, ok := v.Row(name); ok && (r.Why == "" || who.MayRead()) {
		return v, r, nil
	}
	return nil, catalog.Row{}, v.Unknown(name, nil)
}

// fitAlone fits one tool, without the rest of its list, to every dialect.
func fitAlone(v *catalog.View, e *catalog.Entry) map[schema.Dialect]schema.Fitted {
	fitted := map[schema.Dialect]schema.Fitted{}
	for d := range schema.Dialects() {
		fitted[d] = v.One(e, d)
	}
	return fitted
}
