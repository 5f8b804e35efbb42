// Package console serves the web pages: in English and Chinese, light and dark, rendered on
// the server. Pages call the same methods as the REST API, so access is decided in one place.
// Pages work without JavaScript; with it, numbers and rows update live. The console loads
// nothing from other sites, keeps no state of its own and never calls upstream servers itself.
//
//	mux.Handle("/", console.New(console.Parts{Calls: api, Tools: api, Admit: admit, …}))
package console

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/entrance/chatapi"
	"github.com/toolfit/toolfit/internal/integration/recall"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Parts are what the console is built from. The REST API implements all of the first group;
// each interface is defined in the file of the page that uses it.
type Parts struct {
	Setup          Setup // nil: everything is in the menu
	Activity       Activity
	Servers        Servers
	ServerChanges  ServerChanges
	Approvals      Approvals
	Tools          Tools
	ToolNames      ToolNames
	ToolCaller     ToolCaller
	Apps           Apps
	AppRequests    AppRequests
	Calls          Calls
	CallFeed       CallFeed
	CallChanges    CallChanges
	Results        Results
	Rules          Rules
	Policy         Policy
	Suggestions    Suggestions
	Prompts        Prompts
	Sessions       Sessions
	SessionChanges SessionChanges
	Runs           Runs
	RunReports     RunReports
	Keys           Keys
	KeyChanges     KeyChanges
	People         People
	Audit          Audit
	Connections    Connections
	SignIns        SignIns
	Values         Values
	Decisions      Decisions
	Recipes        Recipes
	RecipeChanges  RecipeChanges
	Clients        Clients
	FirstRun       FirstRun

	Chat        chatapi.Agents // agents to chat with
	Environment Environment
	Recall      func() *recall.Service // nil: not configured
	API         http.Handler           // for calls of recalled tools

	Admit    func(*http.Request) (access.Principal, error)
	Check    func(*http.Request) error                 // rejects requests from other sites' pages
	Keyed    func() bool                               // whether people sign in with keys rather than the local secret
	Link     func(token string) (key string, ok bool)  // the key behind a one-time sign-in link; nil: no links
	Logins   Logins                                    // sign-in at identity providers; nil: none
	Address  func(*http.Request) (scheme, host string) // the address in the person's browser
	CatchUp  func(context.Context)                     // applies what other gateways have changed; nil: there are none
	Limit    func(http.Handler) http.Handler           // rate limit; nil: none
	BasePath string                                    // prefix of every path in the browser
	Version  string                                    // "": dev
	Seal     []byte                                    // key that encrypts sign-in cookies; nil: a random one
	Profiles func() []string                           // names of all profiles
	Models   func(access.Principal) []string           // names of the models that the caller's test runs may use
	Logger   *slog.Logger                              // nil: discard
}

// Console serves the pages.
type Console struct {
	Parts
	began  time.Time // when this gateway started
	seals  seals
	assets *assets
	menu   []group
	pages  map[locale.Language]pageSet
	inner  http.Handler
	trees  trees
}

// group is a part of the menu: what people do there.
type group struct {
	name     string // of its heading: console.group.NAME
	sections []section
}

// section is an entry of the menu: a page and its routes.
type section struct {
	name   string                      // of its template and its title: console.nav.NAME
	path   string                      // of its page
	key    string                      // keyboard shortcut: g, then this letter
	may    func(access.Principal) bool // who sees it; nil: everybody
	routes map[string]handler          // by pattern
	linked bool                        // people come by links of other sites
}

// New builds the console.
func New(p Parts) *Console {
	if p.Logger == nil {
		p.Logger = slog.New(slog.DiscardHandler)
	}
	if p.Limit == nil {
		p.Limit = func(h http.Handler) http.Handler { return h }
	}
	if p.CatchUp == nil {
		p.CatchUp = func(context.Context) {}
	}
	if p.Link == nil {
		p.Link = func(string) (string, bool) { return "", false }
	}
	if p.Version == "" {
		p.Version = "dev"
	}
	c := &Console{Parts: p, began: time.Now(), seals: newSeals(p.Seal)}
	c.assets = loadAssets(p.BasePath)
	// A new page is a line here, a Go file and a template.
	c.menu = []group{
		{"use", []section{
			c.overviewSection(),
			c.toolsSection(),
			c.chatSection(),
			c.clientsSection(),
		}},
		{"watch", []section{
			c.callsSection(),
			c.resultsSection(),
			c.approvalsSection(),
			c.environmentsSection(),
		}},
		{"build", []section{
			c.serversSection(),
			c.recipesSection(),
			c.promptSection(),
			c.runsSection(),
			c.recallSection(),
		}},
		{"administer", []section{
			c.policySection(),
			c.connectionsSection(),
			c.keysSection(),
		}},
	}
	c.pages = c.loadPages()
	c.inner = p.Limit(c.routes())
	return c
}

func (c *Console) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+assetPath+"{name}", c.assets)
	mux.HandleFunc("POST /sign-in", c.signIn)
	mux.HandleFunc("POST /sign-out", c.signOut)
	mux.HandleFunc("POST /settings", c.changeSettings)
	for _, g := range c.menu {
		for _, s := range g.sections {
			for pattern, h := range s.routes {
				mux.HandleFunc(pattern, c.let(s, h))
			}
		}
	}
	for pattern, h := range c.findRoutes() {
		mux.HandleFunc(pattern, c.let(section{}, h))
	}
	mux.HandleFunc("GET /sign-in", c.followLink)
	if c.Logins != nil {
		mux.HandleFunc("GET "+LoginPath, c.beginLogin)
		mux.HandleFunc("GET "+CallbackPath, c.finishLogin)
	}
	mux.HandleFunc("/", c.let(section{}, notFound))
	return mux
}

// at is a path as the browser sees it.
func (c *Console) at(path string) string { return c.BasePath + path }

// text is a text of the console by its key without "console.".
func text(lang locale.Language, key string, args ...any) string {
	message := lang.Text("console." + key)
	if len(args) == 0 {
		return message
	}
	for i, a := range args {
		switch a := a.(type) {
		case string:
			args[i] = plain(a)
		case int:
			args[i] = grouped(a)
		case int64:
			args[i] = grouped(a)
		}
	}
	return fmt.Sprintf(message, args...)
}
