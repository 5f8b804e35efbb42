package console

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
)

// toolsOnPage is how many rows a page has. Where there are more, the groups of the servers are folded, and loaded when they are opened.
const toolsOnPage = 100

type toolsPage struct {
	restapi.ToolPage
	Groups   []toolGroup
	Chips    []markChip
	Found    *call.Found // search results; nil: no search
	Query    string
	Profile  string
	Profiles []string // to choose from; empty: no choice
	Server   tool.ServerID
	Is       []catalog.Mark // that are filtered by
	Clear    string         // the page without them
	Pager    pager
}

// markChip is a mark that tools are filtered by, or can be.
type markChip struct {
	Mark catalog.Mark
	N    int // tools that have it, of those that match
	On   bool
	Path string // the page after a click
}

type toolGroup struct {
	restapi.ToolGroup
	Profile string
	Path    string // the page of this server alone
	Load    string // its rows, for htmx
	More    string // the page of the other rows; "": there are none, or the page has a pager
}

// listTools shows the tools by their servers, or what a search finds; only the rows of one server where htmx asks for them.
func (c *Console) listTools(v *visit) (answer, error) {
	asked := v.URL.Query()
	p := toolsPage{Query: strings.TrimSpace(asked.Get("q")), Profile: asked.Get("profile"), Server: tool.ServerID(asked.Get("server"))}
	if v.who.Profile == access.AnyProfile {
		p.Profiles = c.Profiles()
	}
	for _, m := range catalog.Marks {
		if slices.Contains(asked["is"], string(m)) {
			p.Is = append(p.Is, m)
		}
	}
	page, err := strconv.Atoi(asked.Get("page"))
	if err != nil || page < 1 || page > 1_000_000 || p.Server == "" {
		page = 1
	}
	offset := (page - 1) * toolsOnPage
	query := restapi.ToolQuery{Profile: p.Profile, Server: p.Server, Marks: p.Is, Offset: offset, Limit: toolsOnPage}
	if p.ToolPage, err = c.Tools.PageTools(v.who, query); err != nil {
		return answer{}, err
	}
	if page > 1 && offset >= p.Total { // the list has become shorter
		return answer{location: with("/tools", asked, "page", strconv.Itoa(max(1, (p.Total+toolsOnPage-1)/toolsOnPage)))}, nil
	}
	if p.Query != "" {
		search := call.Query{Text: p.Query, Limit: 20, Server: p.Server}
		if names := p.Names(); len(p.Is) > 0 {
			search.Allow = func(name string) bool { return names[name] }
		}
		if p.Found, err = c.Tools.FindTools(v.Context(), v.who, p.Profile, search); err != nil {
			return answer{}, err
		}
	}
	p.arrange(c.at("/tools"))
	if p.Found != nil {
		return v.update("tools", "list", p)
	}
	if asked.Has("rows") && len(p.Groups) == 1 && v.Header.Get("HX-Request") != "" {
		g := p.Groups[0]
		if g.Total > len(g.Rows) {
			g.More = g.Path
		}
		return answer{page: "tools", block: "toolRows", data: g}, nil
	}
	if p.Server != "" {
		q := p.query(p.Server, p.Is)
		p.Pager = numbered(c.at("/tools"), q, page, offset+toolsOnPage < p.Total)
		if p.Total > toolsOnPage {
			p.Pager.Note = text(v.lang, "tools.some", offset+1, min(offset+toolsOnPage, p.Total), number(int64(p.Total)))
		}
	}
	return v.update("tools", "list", p)
}

// query is the query of the page of a server, "" for all, and of marks.
func (p *toolsPage) query(server tool.ServerID, marks []catalog.Mark) url.Values {
	q := url.Values{}
	if p.Profile != "" {
		q.Set("profile", p.Profile)
	}
	if server != "" {
		q.Set("server", string(server))
	}
	if p.Query != "" {
		q.Set("q", p.Query)
	}
	for _, m := range marks {
		q.Add("is", string(m))
	}
	return q
}

// arrange makes the groups and the chips of the page at the path.
func (p *toolsPage) arrange(path string) {
	for _, g := range p.ToolPage.Groups {
		q := p.query(g.Server, p.Is)
		p.Groups = append(p.Groups, toolGroup{
			ToolGroup: g, Profile: p.Profile, Path: with(path, q, "", ""), Load: with(path, q, "rows", "1"),
		})
	}
	for _, m := range catalog.Marks {
		on := slices.Contains(p.Is, m)
		if !on && (p.Count[m] == 0 || p.Found != nil) { // how many of the found ones have it is not counted
			continue
		}
		after := append(slices.Clip(p.Is), m)
		if on {
			after = slices.DeleteFunc(slices.Clone(p.Is), func(other catalog.Mark) bool { return other == m })
		}
		p.Chips = append(p.Chips, markChip{m, p.Count[m], on, with(path, p.query(p.Server, after), "", "")})
	}
	if len(p.Is) > 0 {
		p.Clear = with(path, p.query(p.Server, nil), "", "")
	}
}
