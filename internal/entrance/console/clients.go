package console

import (
	"encoding/json"
	"html/template"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/core/clients"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Clients tells how MCP clients come in, and which have come.
type Clients interface {
	DoorFor(who access.Principal) restapi.Door
	SeenClients(who access.Principal) restapi.ClientList
}

func (c *Console) clientsSection() section {
	return section{name: "clients", path: "/clients", key: "m", routes: map[string]handler{
		"GET /clients":            page("clients", whole, c.showClients),
		"GET /clients/live":       page("clients", "live", c.liveClients),
		"POST /clients/key":       c.createClientKey,
		"GET /first/live":         page("overview", "firstLive", c.firstLive),
		"POST /first/import":      c.importFound,
		"POST /first/demo":        c.addDemo,
		"POST /first/demo/remove": c.removeDemo,
	}}
}

// keyVariable is the environment variable that snippets name in place of a key.
const keyVariable = "TOOLFIT_KEY"

// How clients come in.
const (
	byNothing = "open" // from this machine
	byKey     = "key"
	byLogin   = "login"
)

// clientsPage is how one client is connected to one profile.
type clientsPage struct {
	restapi.Door
	Profile string
	By      string
	Key     string        // the id of whose calls are waited for; "": anybody's
	Known   []restapi.Key // to choose from
	Kinds   []guideKind
	Guide   shownGuide
	Here    bool            // the address reaches nothing but this machine
	May     bool            // make a key
	New     *restapi.NewKey // just made; its text is shown only once
	Input   input
	Live    clientsLive
}

// Spans are the times for which the form offers keys.
func (clientsPage) Spans() []string { return keysPage{}.Spans() }

type guideKind struct {
	Kind   clients.Kind
	Guides []guideLink
}

type guideLink struct {
	Title, Path string
	Here        bool
	Seen        bool // it has come
}

type shownGuide struct {
	clients.Guide
	Open   template.URL // the link, which is ours and escaped
	Blocks []shownStep
	Gap    string // what stands for the key in the text; "": nothing does
	Named  bool   // some of the text names the variable alone, which has to be set
}

type shownStep struct {
	Where string
	Block block
}

func (c *Console) showClients(v *visit) (clientsPage, error) {
	return c.clientsPage(v, v.URL.Query(), nil)
}

// clientsPage is the page that the values ask for, with a key that was just made.
func (c *Console) clientsPage(v *visit, q url.Values, made *restapi.NewKey) (clientsPage, error) {
	p := clientsPage{Door: c.Clients.DoorFor(v.who), Profile: q.Get("profile"), By: q.Get("by"), Key: q.Get("key"), New: made}
	if !slices.Contains(p.Profiles, p.Profile) && len(p.Profiles) > 0 {
		p.Profile = p.Profiles[0]
	}
	switch {
	case !p.Keys && !p.SignIn:
		p.By = byNothing
	case !p.SignIn, made != nil:
		p.By = byKey
	case p.By != byKey:
		p.By = byLogin
	}
	if v.who.MayAdmin() && p.Keys {
		keys, err := c.Keys.ListKeys(v.Context(), v.who)
		if err != nil {
			return p, err
		}
		p.Known = slices.DeleteFunc(keys, func(k restapi.Key) bool {
			return k.HasExpired() || k.Role == string(access.Viewer) || k.Profile != access.AnyProfile && !slices.Contains(k.Profiles, p.Profile)
		})
		p.May = p.By == byKey
	}
	g := clients.Gateway{Base: p.URL, Profile: p.Profile}
	if g.Base == "" {
		g.Base = c.base(v)
	}
	if at, err := url.Parse(g.Base); err == nil {
		p.Here = access.IsLoopback(net.JoinHostPort(at.Hostname(), "0"))
	}
	if p.By == byKey {
		g.Variable = keyVariable
	}
	if made != nil {
		g.Key = made.Text
		p.Key = made.ID
	}
	all := clients.Guides(g)
	chosen := all[max(0, slices.IndexFunc(all, func(one clients.Guide) bool { return one.Name == q.Get("client") }))]
	p.Guide = shownOf(v.lang, chosen, g.Key)
	seen := c.seenIn(v, p.Profile, p.Key)
	p.Live = c.clientsLive(v.lang, all, chosen, seen, url.Values{"client": {chosen.Name}, "profile": {p.Profile}, "key": {p.Key}})
	p.choose(c, all, seen, q)
	return p, nil
}

// choose lists the clients to choose from.
func (p *clientsPage) choose(c *Console, all []clients.Guide, seen restapi.ClientList, q url.Values) {
	for _, kind := range []clients.Kind{clients.App, clients.Service, clients.Code} {
		k := guideKind{Kind: kind}
		for _, g := range all {
			if g.Kind == kind {
				k.Guides = append(k.Guides, guideLink{
					Title: g.Title, Path: c.at(with("/clients", url.Values{"profile": {p.Profile}, "by": q["by"], "key": q["key"]}, "client", g.Name)),
					Here: g.Name == p.Guide.Name, Seen: len(g.Names) > 0 && len(of(g, all, seen.Clients)) > 0,
				})
			}
		}
		p.Kinds = append(p.Kinds, k)
	}
}

func shownOf(lang locale.Language, g clients.Guide, key string) shownGuide {
	out := shownGuide{Guide: g, Open: template.URL(g.Link)} // all but the address and the key is constant, and both are escaped
	for _, s := range g.Steps {
		label := s.Where
		if label == "" {
			label = text(lang, "clients.terminal")
		}
		show := prose
		if json.Valid([]byte(s.Text)) {
			show = func(label, text string) block { return code(label, []byte(text)) }
		}
		b := show(label, s.Text)
		b.Wrap = !strings.Contains(s.Text, "\n") // a command
		out.Blocks = append(out.Blocks, shownStep{label, b})
		if gap := "<" + keyVariable + ">"; strings.Contains(s.Text, gap) {
			out.Gap = gap
		}
		out.Named = out.Named || strings.Contains(s.Text, keyVariable) && (key == "" || !strings.Contains(s.Text, key))
	}
	return out
}

// clientsLive is what has come so far.
type clientsLive struct {
	Path    string
	At      time.Time
	Title   string    // of the client that is waited for
	Here    []seenRow // it, as it has come
	All     []seenRow // every client of the profile
	Since   time.Time
	Replica string
}

// Every is how soon it is asked for again: sooner while somebody waits.
func (l clientsLive) Every() string {
	if len(l.Here) == 0 {
		return "2s"
	}
	return "5s"
}

type seenRow struct {
	restapi.SeenClient
	Title string // of the client whose name it has; "": it is not known
	Ago   string
	Now   bool // it has just been here
}

// justNow is how long a client counts as connected after a request.
const justNow = 5 * time.Minute

func (c *Console) liveClients(v *visit) (clientsLive, error) {
	q := v.URL.Query()
	all := clients.Guides(clients.Gateway{})
	chosen := all[max(0, slices.IndexFunc(all, func(one clients.Guide) bool { return one.Name == q.Get("client") }))]
	return c.clientsLive(v.lang, all, chosen, c.seenIn(v, q.Get("profile"), q.Get("key")), q), nil
}

// seenIn are the clients that have come to a profile, with one key or any.
func (c *Console) seenIn(v *visit, profile, key string) restapi.ClientList {
	list := c.Clients.SeenClients(v.who)
	list.Clients = slices.DeleteFunc(list.Clients, func(s restapi.SeenClient) bool {
		return profile != "" && s.Profile != profile || key != "" && s.Caller != key
	})
	return list
}

func (c *Console) clientsLive(lang locale.Language, all []clients.Guide, chosen clients.Guide, seen restapi.ClientList, q url.Values) clientsLive {
	return clientsLive{
		Path: c.at("/clients/live?" + q.Encode()), At: time.Now(), Title: chosen.Title, Since: seen.Since, Replica: seen.Replica,
		Here: seenRows(lang, all, of(chosen, all, seen.Clients)), All: seenRows(lang, all, seen.Clients),
	}
}

// of are those of the clients that the guide is about. What every program can call itself is one that no other guide knows.
func of(g clients.Guide, all []clients.Guide, seen []restapi.SeenClient) (found []restapi.SeenClient) {
	for _, s := range seen {
		known := slices.ContainsFunc(all, func(other clients.Guide) bool { return other.Is(s.Name) })
		if g.Is(s.Name) || len(g.Names) == 0 && !known {
			found = append(found, s)
		}
	}
	return found
}

func seenRows(lang locale.Language, all []clients.Guide, seen []restapi.SeenClient) (rows []seenRow) {
	for _, s := range seen {
		since := time.Since(s.Last)
		row := seenRow{SeenClient: s, Ago: closeAgo(lang, since), Now: since < justNow}
		if at := slices.IndexFunc(all, func(g clients.Guide) bool { return g.Kind != clients.Code && g.Is(s.Name) }); at >= 0 {
			row.Title = all[at].Title
		}
		rows = append(rows, row)
	}
	return rows
}

// closeAgo tells to the second how long ago something was, where people wait for it.
func closeAgo(lang locale.Language, d time.Duration) string {
	switch {
	case d < time.Minute:
		return text(lang, "clients.ago.s", int(d.Seconds()))
	case d < time.Hour:
		return text(lang, "clients.ago.m", int(d.Minutes()))
	case d < 48*time.Hour:
		return text(lang, "clients.ago.h", int(d.Hours()))
	}
	return text(lang, "clients.ago.d", int(d.Hours()/24))
}

// createClientKey makes a key for the profile, and shows the page with it.
func (c *Console) createClientKey(v *visit) (answer, error) {
	form := v.PostForm
	made, err := c.KeyChanges.CreateKey(v.Context(), v.who, restapi.KeyConfig{
		Name: form.Get("name"), Profile: form.Get("profile"), Role: access.Caller, Expires: form.Get("expires"),
	})
	in, ok := rejected(v, err)
	if err != nil && !ok {
		return answer{}, err
	}
	shown := &made
	if err != nil {
		shown = nil
	}
	p, pageErr := c.clientsPage(v, form, shown)
	p.Input = in
	return answer{page: "clients", data: p}, pageErr
}
