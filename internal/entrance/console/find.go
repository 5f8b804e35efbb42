package console

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	pages "github.com/toolfit/toolfit/docs/errors"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

// ToolNames lists the tools that the caller may see, by name.
type ToolNames interface {
	ToolNames(who access.Principal) ([]restapi.ToolName, error)
}

// findRoutes are those of the palette, and of the pages that only it leads to.
func (c *Console) findRoutes() map[string]handler {
	return map[string]handler{
		"GET /find":        c.find,
		"GET /help/{code}": page("help", whole, c.help),
	}
}

type findPage struct {
	Query string
	Hits  []hit
}

// hit is something that the palette leads to: a page, a change of a setting, or a part of the page.
type hit struct {
	Kind   string // console.find.kind.KIND
	Name   string
	About  string
	Path   string // as the browser sees it
	Away   bool   // it is at another site
	Set    string // without a path: the setting that it changes, language or theme,
	To     string // to this
	Opens  string // without either: the id of the dialog that it opens
	Mono   bool   // the name is one of the program's, rather than words
	ID     string // in the palette; "": on the page
	also   string // other words that find it
	weight int    // among those that fit equally well; 0: only what is typed brings it up
	score  int
}

// Weights of what fits equally well. None lifts something over what fits better.
const (
	perFit  = 4 // of one point of fits
	recent  = 50
	onePage = 12
	oneSite = 8
	oneTool = 6
	oneDoc  = 2
)

const (
	maxHits   = 24
	maxRecent = 8
	maxTyped  = 200 // bytes
)

// find is the palette's list for what was typed, and without JavaScript a page with the same list.
func (c *Console) find(v *visit) (answer, error) {
	q := v.URL.Query()
	typed := strings.TrimSpace(q.Get("q"))
	typed = typed[:min(len(typed), maxTyped)]
	all, err := c.findable(v)
	if err != nil {
		return answer{}, err
	}
	used := strings.Fields(q.Get("recent"))
	for i := range all {
		if at := slices.Index(used[:min(len(used), maxRecent)], all[i].Path); at >= 0 && all[i].Path != "" {
			all[i].weight = recent - at
		}
	}
	hits := best(all, words(typed))
	if calls, err := c.findCalls(v, typed); err != nil {
		return answer{}, err
	} else {
		hits = slices.Concat(calls, hits)
	}
	hits = hits[:min(len(hits), maxHits)]
	if v.Header.Get("HX-Request") != "" {
		for i := range hits {
			hits[i].ID = "found-" + strconv.Itoa(i)
		}
	}
	return v.update("find", "options", findPage{typed, hits})
}

// findable is all that has a name and is not found in the store.
func (c *Console) findable(v *visit) ([]hit, error) {
	all := slices.Concat(c.findPages(v), c.findActions(v))
	for _, s := range c.Servers.SeenServers(v.who) {
		state := text(v.lang, "state."+string(s.State))
		all = append(all, hit{Kind: "server", Name: string(s.ID), About: state, Path: c.at("/servers/" + url.PathEscape(string(s.ID))), Mono: true, weight: oneSite})
	}
	tools, err := c.ToolNames.ToolNames(v.who)
	if fault.Is(err, fault.Forbidden) { // the person has no profile
		err = nil
	}
	for _, t := range tools {
		about, _, _ := strings.Cut(t.Description, "\n")
		all = append(all, hit{Kind: "tool", Name: t.Name, About: about, Path: c.at("/tools/" + url.PathEscape(t.Name)), Mono: true, weight: oneTool})
	}
	for _, page := range pages.All(v.lang) {
		code := string(page.Code)
		all = append(all, hit{Kind: "code", Name: code, About: page.Summary, Path: c.at("/help/" + code), Mono: true, also: "error code", weight: oneDoc})
	}
	return append(all, c.findDocs(v)...), err
}

// inner are the pages within pages.
var inner = []struct{ section, title, path string }{
	{"calls", "title.timeline", "/calls/timeline"},
	{"results", "results.tab.rules", "/results/rules"},
	{"results", "results.tab.suggestions", "/results/suggestions"},
	{"environments", "env.tab.sessions", "/environments/sessions"},
	{"environments", "env.tab.logs", "/environments/logs"},
	{"keys", "people.title", "/people"},
	{"keys", "audit.title", "/audit"},
}

// findPages are the pages that the person may see, also those that the menu leaves out.
func (c *Console) findPages(v *visit) (all []hit) {
	setup := c.setupFor(v)
	for _, g := range c.menu {
		for _, s := range g.sections {
			if !s.mayBeSeen(v.who) {
				continue
			}
			name := text(v.lang, "nav."+s.name)
			one := hit{Kind: "page", Name: name, About: text(v.lang, "group."+g.name), Path: c.at(s.path), weight: onePage,
				also: s.name + " " + inAll("nav."+s.name)}
			if !s.inUse(setup) {
				one.About = text(v.lang, "find.notSetUp", "docs/"+optional[s.name].doc)
				one.weight = oneDoc
			}
			all = append(all, one)
			for _, in := range inner {
				if in.section == s.name && (s.name != "results" || v.who.MayRead()) {
					all = append(all, hit{Kind: "page", Name: text(v.lang, in.title), About: name, Path: c.at(in.path),
						also: inAll(in.title), weight: one.weight - 1})
				}
			}
		}
	}
	return all
}

// inAll is a text in all languages: people look for what they know.
func inAll(key string) (all string) {
	for _, lang := range locale.Languages() {
		all += text(lang, key) + " "
	}
	return all
}

// findActions are what can be done from anywhere.
func (c *Console) findActions(v *visit) []hit {
	act := func(key, also string) hit {
		return hit{Kind: "action", Name: text(v.lang, "find.do."+key), also: also + " " + inAll("find.do."+key), weight: oneTool}
	}
	var all []hit
	set := func(key, also, setting, to string) {
		one := act(key, also)
		one.Set = setting
		one.To = to
		all = append(all, one)
	}
	lead := func(key, path string) {
		one := act(key, "new")
		one.Path = c.at(path)
		all = append(all, one)
	}
	if v.who.MayAdmin() {
		lead("addServer", "/servers/add")
		lead("newKey", "/keys#new")
	}
	for _, theme := range []string{"light", "dark", "system"} {
		if theme != cmp.Or(v.theme, "system") {
			set(theme, "theme", "theme", theme)
		}
	}
	if v.lang == locale.Chinese {
		set("language", "English", "language", "en")
	} else {
		set("language", "中文 zh", "language", "zh")
	}
	keys := act("keys", "?")
	keys.Opens = "keys"
	return append(all, keys)
}

// findCalls are the calls, results and sessions whose ids begin with what was typed, the newest first.
func (c *Console) findCalls(v *visit, typed string) (hits []hit, err error) {
	lead := func(kind, name, about, path string) {
		hits = append(hits, hit{Kind: kind, Name: name, About: about, Path: c.at(path), Mono: true})
	}
	list := func(q url.Values, which func(restapi.Call) bool) error {
		q.Set("limit", "6")
		found, err := c.Calls.ListCalls(v.Context(), v.who, q, lookAt)
		for _, one := range found.Calls {
			if which(one) {
				about := cmp.Or(one.Tool, one.Upstream) + " · " + text(v.lang, "outcome."+one.Outcome)
				lead("call", one.ID, about, "/calls/"+url.PathEscape(one.ID))
			}
		}
		return err
	}
	switch {
	case strings.HasPrefix(typed, "c_"): // ids are in the order of time: those that begin so end before this
		err = list(url.Values{"cursor": {typed + "~"}}, func(one restapi.Call) bool { return strings.HasPrefix(one.ID, typed) })
	case strings.HasPrefix(typed, "r_") && len(typed) > len("r_"):
		stored, wrong := c.Results.StoredResult(v.Context(), v.who, typed)
		if wrong == nil {
			lead("result", typed, stored.Tool, "/results/"+url.PathEscape(typed))
		} else if !fault.Is(wrong, fault.NotFound) && !fault.Is(wrong, fault.BadRequest) {
			err = wrong
		}
	case strings.HasPrefix(typed, "ses_"):
		if one, wrong := c.Sessions.ReadSession(v.Context(), v.who, typed); wrong == nil {
			lead("session", typed, one.Title, "/environments/sessions/"+url.PathEscape(typed))
		}
		err = list(url.Values{"session": {typed}}, func(restapi.Call) bool { return true })
	}
	if fault.Is(err, fault.BadRequest) { // it is no text that an id could be
		err = nil
	}
	return hits, err
}

// words are what was typed, in lower case.
func words(typed string) []string { return strings.Fields(strings.ToLower(typed)) }

// best are the hits that have all words, the best first. Without words it is what was used lately, the menu and what can
// be done.
func best(all []hit, typed []string) (hits []hit) {
	for _, one := range all {
		isRecent := one.weight > recent-maxRecent
		switch {
		case len(typed) > 0:
			fits := one.fits(typed)
			if fits == 0 {
				continue
			}
			one.score = perFit*fits + one.weight - min(len(one.Name), 40)/8
		case isRecent:
			one.score = one.weight
		case one.weight < onePage && one.Kind != "action":
			continue
		}
		hits = append(hits, one)
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.score - a.score })
	return hits
}

// fits is how well something fits what was typed: 0, if it lacks one of the words.
func (h *hit) fits(typed []string) (score int) {
	for _, word := range typed {
		one := max(nearness(word, h.Name), nearness(word, h.also)*3/4)
		if at := strings.Index(strings.ToLower(h.About), word); one == 0 && len(word) > 1 && at >= 0 {
			one = 10
		}
		if one == 0 {
			return 0
		}
		score += one
	}
	return score / len(typed)
}

// nearness is how well a name fits a word in lower case: all of it, its beginning, the beginning of a word in it, a part of it,
// or letters in that order most of which begin a word or follow one another.
func nearness(word, name string) int {
	lower := strings.ToLower(name)
	if len(lower) != len(name) {
		name = lower // case changes the length of few letters, and then words are told apart by what is between them
	}
	if lower == word {
		return 100
	}
	for from, found := 0, 0; ; {
		at := strings.Index(lower[from:], word)
		switch at += from; {
		case at < from && found > 0:
			return found
		case at < from:
			return scattered(word, lower, name)
		case at == 0:
			return 85
		case begins(name, at):
			return 70
		}
		found = 45
		from = at + 1
	}
}

// scattered is how well a word's letters fit a name that has others between them.
func scattered(word, lower, name string) int {
	good, at := 0, 0
	for i := range len(word) {
		next := strings.IndexByte(lower[at:], word[i])
		if next < 0 {
			return 0
		}
		if next == 0 && i > 0 || begins(name, at+next) {
			good++
		}
		at += next + 1
	}
	if len(word) < 2 || good*3 < len(word)*2 {
		return 0
	}
	return 15 + 15*good/len(word)
}

// begins tells whether a word of the name begins at the position: after a sign, with a capital, or with a letter that has no
// case, as Chinese ones.
func begins(name string, at int) bool {
	if at == 0 {
		return true
	}
	before, here := name[at-1], name[at]
	letter := before >= 'a' && before <= 'z' || before >= 'A' && before <= 'Z' || before >= '0' && before <= '9' || before >= 0x80
	return !letter || here >= 0x80 || here >= 'A' && here <= 'Z' && before >= 'a' && before <= 'z'
}
