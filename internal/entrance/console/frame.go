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

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
)

//go:embed pages
var pageFiles embed.FS

// pageSet are the templates of a language, by page.
type pageSet map[string]*template.Template

// loadPages reads the templates that are built in: each page with the frame and the parts.
func (c *Console) loadPages() map[locale.Language]pageSet {
	files, _ := fs.Glob(pageFiles, "pages/*.html") // the pattern is well formed
	all := map[locale.Language]pageSet{}
	for _, lang := range locale.Languages() {
		shared := template.Must(template.New("").Funcs(c.words(lang)).ParseFS(pageFiles, "pages/frame.html", "pages/parts.html"))
		set := pageSet{}
		for _, file := range files {
			name := strings.TrimSuffix(path.Base(file), ".html")
			set[name] = template.Must(template.Must(shared.Clone()).ParseFS(pageFiles, file))
		}
		all[lang] = set
	}
	return all
}

// frame is what every page has around it.
type frame struct {
	Page     string // its template; its title is console.title.PAGE
	Lang     locale.Language
	Theme    string
	Version  string
	Who      string // "" before the sign-in
	Role     string
	SignedIn bool // by a cookie, so that signing out makes sense
	Nav      []navItem
	Back     string // this page, for the switches
	Said     string // what was just done; a key
	Fault    *fault.Error
	Data     any
}

// navItem is an entry of the navigation.
type navItem struct {
	Name, Path, Key string
	Here            bool
}

func (c *Console) frameOf(v *visit, page string, data any) frame {
	f := frame{Page: page, Lang: v.lang, Theme: v.theme, Version: c.Version, Who: v.who.Name, Role: string(v.who.Role), Back: v.back, Data: data}
	_, err := v.Cookie(signInCookie)
	f.SignedIn = err == nil && v.Header.Get("Authorization") != ""
	if said := v.URL.Query().Get("said"); text(v.lang, "said."+said) != "" {
		f.Said = "said." + said
	}
	for _, s := range c.sections {
		if v.who.ID != "" && (s.may == nil || s.may(v.who)) {
			f.Nav = append(f.Nav, navItem{s.name, c.at(s.path), s.key, s.name == v.section})
		}
	}
	return f
}

// answer writes what a handler wants to be shown.
func (c *Console) answer(w http.ResponseWriter, v *visit, a answer) {
	switch {
	case a.serve != nil:
		a.serve(w, v.Request)
	case a.location != "":
		at := a.location
		if a.said != "" {
			at += "?said=" + url.QueryEscape(a.said)
		}
		c.redirect(w, v.Request, at)
	case a.block != "":
		c.write(w, v, http.StatusOK, a.page, a.block, a.data)
	default:
		c.write(w, v, http.StatusOK, a.page, "frame", c.frameOf(v, a.page, a.data))
	}
}

// write renders a page whole before the first byte goes out, so that an error can still be told.
func (c *Console) write(w http.ResponseWriter, v *visit, status int, page, block string, data any) {
	var b bytes.Buffer
	if err := c.pages[v.lang][page].ExecuteTemplate(&b, block, data); err != nil {
		c.Logger.Error("page not rendered", "page", page, "block", block, "error", err)
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", string(v.lang))
	h.Set("Cache-Control", "no-store") // it shows what one caller may see
	h.Set("Vary", "Cookie, Accept-Language, HX-Request")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a reader that went away is no fault of ours
}

// showFault shows what of an error a person may know. What it may not is logged. In the
// middle of a page it goes to the place for notices.
func (c *Console) showFault(w http.ResponseWriter, v *visit, err error) {
	f := fault.As(err)
	if f.Hides() && v.Context().Err() == nil {
		c.Logger.Error("page not served", "method", v.Method, "path", v.URL.Path, "error", f)
	}
	if v.Header.Get("HX-Request") != "" {
		w.Header().Set("HX-Retarget", "#notice")
		w.Header().Set("HX-Reswap", "innerHTML")
		c.write(w, v, http.StatusOK, "fault", "notice", f)
		return
	}
	shown := c.frameOf(v, "fault", f)
	c.write(w, v, f.Code.Status(), "fault", "frame", shown)
}

// signInPage is what the page shows that asks for a key, or for the local secret.
type signInPage struct {
	Keys  bool   // there are keys; else the local secret signs in
	Wrong bool   // the last one did not do
	Back  string // where it leads to
}

// showSignIn asks for a key; err says why the last one did not do.
func (c *Console) showSignIn(w http.ResponseWriter, v *visit, err error) {
	if v.Header.Get("HX-Request") != "" {
		w.Header().Set("HX-Refresh", "true") // the whole page asks for the key
		w.WriteHeader(http.StatusNoContent)
		return
	}
	shown := c.frameOf(v, "sign-in", signInPage{c.Keyed(), err != nil, v.back})
	c.write(w, v, http.StatusUnauthorized, "sign-in", "frame", shown)
}
