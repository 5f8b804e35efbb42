package restapi

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/scan"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/schema"
)

// ToolQuery selects tools of a profile.
type ToolQuery struct {
	Profile       string        // "": the caller's own
	Server        tool.ServerID // "": all
	Offset, Limit int
}

// ToolPage is a page of tools.
type ToolPage struct {
	Tools   []ToolRow
	Total   int // that match
	Servers []tool.ServerID
}

// ToolRow is a tool in a list.
type ToolRow struct {
	Name        string
	Own         string // the server's name for it, where the shown one does not say it
	Server      tool.ServerID
	Description string
	Tokens      int // of the definition, estimated
}

// wholeFor is what the caller sees of a profile. Admins see all of it, whatever the policy denies them.
func (a *API) wholeFor(who access.Principal, profile string) (*catalog.View, error) {
	v, err := a.viewOf(who, profile)
	if err == nil && who.MayAdmin() {
		return a.Catalog.View(v.Profile)
	}
	return v, err
}

// PageTools returns a page of the tools that the caller may see.
func (a *API) PageTools(who access.Principal, q ToolQuery) (ToolPage, error) {
	v, err := a.wholeFor(who, q.Profile)
	if err != nil {
		return ToolPage{}, err
	}
	var page ToolPage
	for _, e := range v.Entries {
		if e.Server != "" && (len(page.Servers) == 0 || page.Servers[len(page.Servers)-1] != e.Server) {
			page.Servers = append(page.Servers, e.Server)
		}
		if q.Server != "" && e.Server != q.Server {
			continue
		}
		page.Total++
		if page.Total > q.Offset && len(page.Tools) < q.Limit {
			page.Tools = append(page.Tools, ToolRow{e.Shown, ownName(e), e.Server, e.Description(), tokens.Estimate(e.Raw())})
		}
	}
	slices.Sort(page.Servers)
	page.Servers = slices.Compact(page.Servers)
	return page, nil
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
	Fitted      []schema.Fitted // in each dialect, by its name
	Findings    []scan.Finding  // what the scan found in it; only for those who may read what is held
}

// ShowTool returns a tool as its server sent it, and in each dialect.
func (a *API) ShowTool(ctx context.Context, who access.Principal, profile, name string) (OneTool, error) {
	v, err := a.wholeFor(who, profile)
	if err != nil {
		return OneTool{}, err
	}
	e, err := v.Find(name)
	if err != nil {
		return OneTool{}, err
	}
	one := OneTool{Tool: oneTool(e), Own: ownName(e), InputSchema: e.InputSchema(), Tokens: tokens.Estimate(e.Raw())}
	one.Result = a.Caller.ResultType(ctx, v, e)
	one.Fitted = fitAlone(v, e)
	if who.MayRead() {
		one.Findings = a.Catalog.Findings(e.Server, e.Definition.Name)
	}
	return one, nil
}

// fitAlone fits one tool, without the rest of its list, to every dialect.
func fitAlone(v *catalog.View, e *catalog.Entry) []schema.Fitted {
	var fitted []schema.Fitted
	for _, d := range slices.Sorted(maps.Keys(schema.Dialects())) {
		fitted = append(fitted, v.One(e, d))
	}
	return fitted
}
