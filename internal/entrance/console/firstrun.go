package console

import (
	"context"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/clients"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/access"
)

// FirstRun is what a newcomer can begin with.
type FirstRun interface {
	FoundServers(who access.Principal) []restapi.FoundServer
	ImportFound(ctx context.Context, who access.Principal, ids []string) error
	DemoServers(who access.Principal) []tool.ServerID
	AddDemo(ctx context.Context, who access.Principal) error
	RemoveDemo(ctx context.Context, who access.Principal) error
}

// firstRun is the way to the first call of a client: a server, a tool, a client.
type firstRun struct {
	Admin bool
	Ready bool                  // there is a server to try; for those who cannot add one, there is any
	Tried bool                  // a tool was called
	Over  bool                  // a client has called, or that was long ago
	Found []restapi.FoundServer // on this machine, to import
	Demo  []tool.ServerID       // servers with demo data
	Tool  string                // one to try
	Input input
	Live  firstLive
}

// firstLive waits for the first call of a client.
type firstLive struct {
	Path string
	Came []seenRow
}

// firstRun is the way that is left to the first call; nil: there is nothing to say.
func (c *Console) firstRun(v *visit, servers []restapi.Server, calls []restapi.Call) *firstRun {
	if v.URL.Path == "/overview/live" { // what was chosen so far must stay; and files are read when the page is opened
		return nil
	}
	f := &firstRun{Admin: v.who.MayAdmin(), Tried: len(calls) > 0, Demo: c.FirstRun.DemoServers(v.who)}
	f.Ready = slices.ContainsFunc(servers, func(s restapi.Server) bool {
		return !f.Admin || s.State != upstream.Down && s.State != restapi.Disabled
	})
	f.Live, _ = c.firstLive(v) // never an error
	f.Over = len(calls) >= callsOnOverview || !v.who.MayCall()
	for _, s := range f.Live.Came {
		f.Over = f.Over || s.Calls > 0
	}
	for _, one := range calls {
		f.Over = f.Over || one.At.Before(c.began)
	}
	switch {
	case f.Over && len(f.Demo) == 0 && len(servers) > 0:
		return nil
	case f.Ready:
		f.Tool = c.toolToTry(v)
	default:
		f.Over = f.Over && len(servers) > 0
		f.Found = slices.DeleteFunc(c.FirstRun.FoundServers(v.who), func(found restapi.FoundServer) bool {
			return slices.ContainsFunc(servers, func(s restapi.Server) bool { return s.ID == found.Config.ID })
		})
	}
	return f
}

// toolToTry is a tool that changes nothing, as far as its server says; one that lists things, if there is one, because it mostly
// needs no arguments. "": there is none, or there are many.
func (c *Console) toolToTry(v *visit) (name string) {
	for _, marks := range [][]catalog.Mark{{catalog.MarkReadOnly}, nil} {
		page, err := c.Tools.PageTools(v.who, restapi.ToolQuery{Marks: marks, Limit: toolsOnPage})
		if err != nil {
			return ""
		}
		for _, g := range page.Groups {
			for _, t := range g.Rows {
				switch {
				case t.Why != "" || t.Server == "":
				case strings.Contains(strings.ToLower(t.Name), "list"):
					return t.Name
				case name == "":
					name = t.Name
				}
			}
		}
		if name != "" {
			return name
		}
	}
	return ""
}

func (c *Console) firstLive(v *visit) (firstLive, error) {
	seen := c.Clients.SeenClients(v.who)
	return firstLive{Path: c.at("/first/live"), Came: seenRows(v.lang, clients.Guides(clients.Gateway{}), seen.Clients)}, nil
}

func (c *Console) importFound(v *visit) (answer, error) {
	ids := v.PostForm["server"]
	err := c.FirstRun.ImportFound(v.Context(), v.who, ids)
	if err == nil && len(ids) == 0 {
		err = fault.New(fault.BadRequest, "no server was chosen").WithHint("tick at least one, or add another server")
	}
	return c.firstStep(v, "foundAdded", err)
}

func (c *Console) addDemo(v *visit) (answer, error) {
	return c.firstStep(v, "demoAdded", c.FirstRun.AddDemo(v.Context(), v.who))
}

func (c *Console) removeDemo(v *visit) (answer, error) {
	return c.firstStep(v, "demoRemoved", c.FirstRun.RemoveDemo(v.Context(), v.who))
}

// firstStep shows the overview after a step, with what can be repaired.
func (c *Console) firstStep(v *visit, said string, err error) (answer, error) {
	in, ok := rejected(v, err)
	switch {
	case err == nil:
		return done("/", said)
	case !ok:
		return answer{}, err
	}
	v.section = "overview"
	p, err := c.overview(v)
	if p.First == nil {
		p.First = &firstRun{Over: true}
	}
	p.First.Input = in
	return answer{page: "overview", data: p}, err
}
