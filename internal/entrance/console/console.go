// Package console is the entrance for people: pages in Chinese and English, light and dark,
// rendered on the server. They read and change what the REST API does, through the same
// methods, so there is one decision who may see what. A page works without JavaScript;
// with it, numbers and rows come in live. It never loads anything from another site, never
// keeps state of its own, and never asks an upstream server directly.
//
//	mux.Handle("/", console.New(console.Parts{Gateway: api, Admit: admit, …}))
package console

import (
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/entrance/chatapi"
	"github.com/toolfit/toolfit/internal/integration/recall"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Parts are what the pages are served from.
type Parts struct {
	Gateway     Gateway
	Chat        chatapi.Agents // the agents that people talk with
	Environment Environment
	Recall      func() *recall.Service // nil: it is not configured
	API         http.Handler           // for calls of tools that were recalled

	Admit    func(*http.Request) (access.Principal, error)
	Check    func(*http.Request) error                 // refuses requests of other sites' pages
	Keyed    func() bool                               // whether people sign in with keys, not with the local secret
	Link     func(token string) (key string, ok bool)  // what a one-time link signs in with; nil: there are none
	Address  func(*http.Request) (scheme, host string) // that the person's browser asked for
	Limit    func(http.Handler) http.Handler           // turns away who asks too often; nil: nobody
	BasePath string                                    // what stands before every path for browsers
	Version  string                                    // "": dev
	Seal     []byte                                    // seals sign-ins; nil: a new one for this process
	Profiles func() []string                           // the names of all profiles
	Models   func(access.Principal) []string           // the names of the models that the caller's test runs may ask
	Logger   *slog.Logger                              // nil: discard
}

// Gateway is what pages read and change; each page says in its file what it needs. The caller
// is always told, and what it may not is a fault.
type Gateway interface {
	Pulse
	Servers
	ServerChanges
	Tools
	Calls
	Results
	KeptResults
	Rules
	Suggestions
	Prompts
	Sessions
	Runs
	Keys
}

// Console serves the pages.
type Console struct {
	Parts
	began    time.Time // from when on calls are counted
	seal     *seal
	assets   *assets
	sections []section
	pages    map[locale.Language]pageSet
	inner    http.Handler
	trees    trees
}

// section is a part of the navigation: a page and all that belongs to it.
type section struct {
	name   string                      // of its template, and of its texts: console.nav.NAME
	path   string                      // of its page
	key    string                      // the letter that leads to it after g
	may    func(access.Principal) bool // who is shown it; nil: everybody
	routes map[string]handler          // by pattern
}

// New makes the console.
func New(p Parts) *Console {
	if p.Logger == nil {
		p.Logger = slog.New(slog.DiscardHandler)
	}
	if p.Limit == nil {
		p.Limit = func(h http.Handler) http.Handler { return h }
	}
	if p.Link == nil {
		p.Link = func(string) (string, bool) { return "", false }
	}
	if p.Version == "" {
		p.Version = "dev"
	}
	c := &Console{Parts: p, began: time.Now(), seal: newSeal(p.Seal)}
	c.assets = loadAssets(p.BasePath)
	// A new page is one more line here, one Go file and one template.
	c.sections = []section{
		c.overviewSection(),
		c.serversSection(),
		c.toolsSection(),
		c.callsSection(),
		c.resultsSection(),
		c.promptSection(),
		c.recallSection(),
		c.chatSection(),
		c.environmentsSection(),
		c.runsSection(),
		c.keysSection(),
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
	for _, s := range c.sections {
		for pattern, h := range s.routes {
			mux.HandleFunc(pattern, c.let(s, h))
		}
	}
	mux.HandleFunc("GET /sign-in", c.followLink)
	mux.HandleFunc("/", c.let(section{}, notFound))
	return mux
}

// at is a path as browsers see it.
func (c *Console) at(path string) string { return c.BasePath + path }

// text is a message of the console; the key has no prefix.
func text(lang locale.Language, key string, args ...any) string {
	message := lang.Text("console." + key)
	if len(args) == 0 {
		return message
	}
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = plain(s)
		}
	}
	return fmt.Sprintf(message, args...)
}
