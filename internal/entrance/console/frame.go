package console

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
)

//go:embed pages
var pageFiles embed.FS

// pageSet has a function for each page, which parses its template when it is first shown: most gateways show few pages,
// and all of them together are half of what a gateway holds in memory.
type pageSet map[string]func() *template.Template

// loadPages finds the embedded templates: each page has the frame and the shared parts.
func (c *Console) loadPages() map[locale.Language]pageSet {
	files, _ := fs.Glob(pageFiles, "pages/*.html") // the pattern is well formed
	all := map[locale.Language]pageSet{}
	for _, lang := range locale.Languages() {
		shared := sync.OnceValue(func() *template.Template {
			return template.Must(template.New("").Funcs(c.words(lang)).ParseFS(pageFiles, "pages/frame.html", "pages/parts.html"))
		})
		set := pageSet{}
		for _, file := range files {
			name := strings.TrimSuffix(path.Base(file), ".html")
			set[name] = sync.OnceValue(func() *template.Template {
				return template.Must(template.Must(shared().Clone()).ParseFS(pageFiles, file))
			})
		}
		all[lang] = set
	}
	return all
}

type frame struct {
	Page     string // its template; the title is console.title.PAGE
	Lang     locale.Language
	Theme    string
	Version  string
	Who      string // "" before the sign-in
	Role     string
	SignedIn bool // by a cookie, so the person can sign out
	Menu     []menuGroup
	Back     string // this page, for the language and theme switches
	Said     string // message about what was just done; a key
	Fault    *fault.Error
	Data     any
}

func (c *Console) frameOf(v *visit, page string, data any) frame {
	f := frame{Page: page, Lang: v.lang, Theme: v.theme, Version: c.Version, Who: v.who.Name, Role: string(v.who.Role), Back: v.back,
		Data: data}
	_, err := v.Cookie(signInCookie)
	f.SignedIn = err == nil && v.Header.Get("Authorization") != ""
	if said := v.URL.Query().Get(saidKey); text(v.lang, "said."+said) != "" {
		f.Said = "said." + said
	}
	if v.who.ID != "" {
		f.Menu = c.menuFor(v)
	}
	return f
}

func (c *Console) answer(w http.ResponseWriter, v *visit, a answer) {
	if p, ok := a.data.(interface{ frames() bool }); ok && p.frames() {
		w.Header().Set("Content-Security-Policy", policy+"; frame-src 'self'")
	}
	switch {
	case a.serve != nil:
		a.serve(w)
	case a.location != "":
		at := a.location
		if a.said != "" {
			sign := "?"
			if strings.Contains(at, "?") {
				sign = "&"
			}
			at += sign + saidKey + "=" + url.QueryEscape(a.said)
		}
		c.redirect(w, v.Request, at)
	case a.block != whole:
		c.write(w, v, http.StatusOK, a.page, a.block, a.data)
	default:
		c.write(w, v, http.StatusOK, a.page, "frame", c.frameOf(v, a.page, a.data))
	}
}

// write renders the whole page before it sends the first byte, so that errors can still be reported.
func (c *Console) write(w http.ResponseWriter, v *visit, status int, page, block string, data any) {
	var b bytes.Buffer
	if err := c.pages[v.lang][page]().ExecuteTemplate(&b, block, data); err != nil {
		c.Logger.Error("page not rendered", "page", page, "block", block, "error", err)
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", string(v.lang))
	h.Set("Cache-Control", "no-store") // it is meant for one caller
	h.Set("Vary", "Cookie, Accept-Language, HX-Request")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the reader may have left
}

// seen is an error as far as a person may see it. What it hides is logged.
func (c *Console) seen(v *visit, err error) *fault.Error {
	f := fault.As(err)
	if f.Hides() && v.Context().Err() == nil {
		c.Logger.Error("page not served", "method", v.Method, "path", v.URL.Path, "error", f)
	}
	return f
}

// showFault shows an error as far as a person may see it, and logs the rest. Within a page it
// goes to the place for notices.
func (c *Console) showFault(w http.ResponseWriter, v *visit, err error) {
	f := c.seen(v, err)
	if v.Header.Get("HX-Request") != "" {
		w.Header().Set("HX-Retarget", "#notice")
		w.Header().Set("HX-Reswap", "innerHTML")
		c.write(w, v, http.StatusOK, "fault", "notice", f)
		return
	}
	shown := c.frameOf(v, "fault", f)
	c.write(w, v, f.Code.Status(), "fault", "frame", shown)
}

type signInPage struct {
	Keys      bool         // there are keys; otherwise the local secret signs in
	Providers []Provider   // where else people sign in
	Wrong     bool         // the last key was wrong
	Fault     *fault.Error // why the sign-in at a provider came to nothing; nil: there was none
	Back      string       // where to go afterwards
}

// showSignIn asks people to sign in.
func (c *Console) showSignIn(w http.ResponseWriter, v *visit, p signInPage) {
	if v.Header.Get("HX-Request") != "" {
		w.Header().Set("HX-Refresh", "true") // reloads the whole page, which asks for the key
		w.WriteHeader(http.StatusNoContent)
		return
	}
	p.Keys = c.Keyed()
	p.Back = v.back
	if c.Logins != nil {
		p.Providers = c.Logins.Providers(v.back)
	}
	status := http.StatusUnauthorized
	if p.Fault != nil {
		status = p.Fault.Code.Status()
	}
	c.write(w, v, status, "sign-in", "frame", c.frameOf(v, "sign-in", p))
}
