package console

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/base/stylesheet"
	"github.com/toolfit/toolfit/internal/state/access"
)

const (
	settingsFor = 365 * 24 * time.Hour
	// maxForm bounds what a person sends at once.
	maxForm = 1 << 20
)

// visit is one request of a person.
type visit struct {
	*http.Request
	who     access.Principal // the zero one before it is let in
	lang    locale.Language
	theme   string // light, dark, or "" for what the system has
	section string // where in the navigation it is
	back    string // where a sign-in leads to
}

// handler answers a visit of somebody who was let in. Errors are shown to the person as far
// as they may be known.
type handler func(v *visit) (answer, error)

// answer is what a handler wants to be shown.
type answer struct {
	page  string // the template
	block string // the part of it that htmx asked for; "": the whole page
	data  any

	location string // instead of a page: where to go on
	said     string // what was done, as console.said.KEY; shown there
	serve    http.HandlerFunc
}

// show shows a page.
func show(page string, data any) (answer, error) { return answer{page: page, data: data}, nil }

// part shows a block of a page, for htmx to put in its place.
func part(page, block string, data any) (answer, error) {
	return answer{page: page, block: block, data: data}, nil
}

// done goes on to a page after a change and says there what was done: console.said.KEY.
func done(path, said string) (answer, error) { return answer{location: path, said: said}, nil }

func notFound(v *visit) (answer, error) {
	return answer{}, fault.New(fault.NotFound, "there is no page %.100s", v.URL.Path)
}

// visitor reads what a request says of its person's wishes.
func (c *Console) visitor(r *http.Request) *visit {
	v := &visit{Request: r, back: r.URL.RequestURI(), lang: locale.Of(r), theme: stylesheet.Theme(r)}
	if r.Method != http.MethodGet {
		v.back = c.cameFrom(r)
	}
	return v
}

// cameFrom is the page of ours from which a form was sent.
func (c *Console) cameFrom(r *http.Request) string {
	page, err := url.Parse(r.Referer())
	if err != nil || page.Host != r.Host {
		return "/"
	}
	return localPath(strings.TrimPrefix(page.RequestURI(), c.BasePath))
}

// let lets people in, and shows what the handler answers.
func (c *Console) let(s section, h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := c.visitor(r)
		v.section = s.name
		var err error
		if v.who, err = c.admit(r); fault.Is(err, fault.Unauthorized) {
			c.showSignIn(w, v, nil)
			return
		}
		if err == nil && s.may != nil && !s.may(v.who) {
			err = v.who.Forbidden("%s may not see this page")
		}
		if err == nil && r.Method == http.MethodPost {
			_, err = form(w, r)
		}
		var a answer
		if err == nil {
			a, err = h(v)
		}
		if err != nil {
			c.showFault(w, v, err)
			return
		}
		c.answer(w, v, a)
	}
}

// form reads the fields that a person sent. What cannot be read is as if it was not sent.
func form(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if r.ContentLength > maxForm {
		return nil, fault.New(fault.TooLarge, "the body is larger than %d bytes", maxForm)
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if r.ParseForm() != nil {
		r.PostForm = url.Values{}
	}
	return r.PostForm, nil
}

// changeSettings keeps the language or the theme that a person has chosen.
func (c *Console) changeSettings(w http.ResponseWriter, r *http.Request) {
	f, err := form(w, r)
	if err != nil {
		c.showFault(w, c.visitor(r), err)
		return
	}
	if lang, ok := locale.Parse(f.Get("language")); ok {
		c.setCookie(w, r, locale.Cookie, string(lang), settingsFor)
	}
	switch theme := f.Get("theme"); theme {
	case "light", "dark":
		c.setCookie(w, r, stylesheet.ThemeCookie, theme, settingsFor)
	case "system":
		c.setCookie(w, r, stylesheet.ThemeCookie, "", -1)
	}
	c.redirect(w, r, localPath(f.Get("back")))
}
