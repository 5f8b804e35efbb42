package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/base/stylesheet"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	settingsFor = 365 * 24 * time.Hour
	// maxForm is the size limit of a form.
	maxForm = 1 << 20
)

type visit struct {
	*http.Request
	who     access.Principal // zero before the person is admitted
	lang    locale.Language
	theme   string // light, dark, or "" for the system's
	section string // of the navigation
	back    string // where to go after signing in
}

// handler answers the request of a person who was admitted.
type handler func(v *visit) (answer, error)

type answer struct {
	page  string // the template
	block string // the part that htmx asked for, or whole
	data  any

	location string // path of the redirect
	said     string // message to show there, as console.said.KEY
	serve    func(http.ResponseWriter)
}

// saidKey is the parameter of a page that is shown after a change: a message about it.
const saidKey = "said"

// whole stands for all of a page, rather than one block of it.
const whole = ""

// page is a handler that shows a page, or one block of it, with what read returns.
func page[T any](name, block string, read func(*visit) (T, error)) handler {
	return func(v *visit) (answer, error) {
		data, err := read(v)
		return answer{page: name, block: block, data: data}, err
	}
}

// update shows a block of a page if htmx asks, and the whole page otherwise.
func (v *visit) update(page, block string, data any) (answer, error) {
	if v.Header.Get("HX-Request") == "" {
		block = whole
	}
	return answer{page: page, block: block, data: data}, nil
}

func show(page string, data any) (answer, error) { return answer{page: page, data: data}, nil }

// serve lets write write the response.
func serve(write func(http.ResponseWriter)) (answer, error) { return answer{serve: write}, nil }

// download serves data as a file.
func download(kind, name string, data []byte) (answer, error) {
	return serve(func(w http.ResponseWriter) {
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
		h.Set("Cache-Control", "no-store")
		_, _ = w.Write(data) // the reader may have left
	})
}

// done redirects after a change. The page then shows console.said.KEY.
func done(path, said string) (answer, error) { return answer{location: path, said: said}, nil }

func notFound(v *visit) (answer, error) {
	return answer{}, fault.New(fault.NotFound, "there is no page %.100s", v.URL.Path)
}

// visitor reads the person's settings from a request.
func (c *Console) visitor(r *http.Request) *visit {
	v := &visit{Request: r, back: r.URL.RequestURI(), lang: locale.Of(r), theme: stylesheet.Theme(r)}
	if r.Method != http.MethodGet {
		v.back = c.cameFrom(r)
	}
	return v
}

// cameFrom is the page from which a form was sent.
func (c *Console) cameFrom(r *http.Request) string {
	page, err := url.Parse(r.Referer())
	if err != nil || page.Host != r.Host {
		return "/"
	}
	return localPath(strings.TrimPrefix(page.RequestURI(), c.BasePath))
}

// afterChange tells whether a page is the one that is shown after a change.
func afterChange(r *http.Request) bool {
	q := r.URL.Query()
	return q.Has(saidKey) || q.Has("did") || q.Has("added")
}

// let admits people and shows what the handler answers.
func (c *Console) let(s section, h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := c.visitor(r)
		v.section = s.name
		var err error
		v.who, err = c.admit(r)
		if fault.Is(err, fault.Unauthorized) && s.linked && r.Method == http.MethodGet && !r.URL.Query().Has(againKey) {
			c.arrive(w, v)
			return
		}
		if fault.Is(err, fault.Unauthorized) {
			c.showSignIn(w, v, signInPage{})
			return
		}
		if err == nil && s.may != nil && !s.may(v.who) {
			err = v.who.Forbidden("%s may not see this page")
		}
		if err == nil && r.Method == http.MethodPost {
			_, err = readPosted(w, r)
		}
		var a answer
		if err == nil {
			if r.Method == http.MethodPost || afterChange(r) { // the form, or the page before, may be another gateway's
				c.CatchUp(r.Context())
			}
			v.Request = r.WithContext(store.As(r.Context(), v.who.Actor()))
			a, err = h(v)
		}
		if err != nil {
			c.showFault(w, v, err)
			return
		}
		c.answer(w, v, a)
	}
}

// readPosted reads the fields of a form. Fields that cannot be parsed count as not sent.
func readPosted(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if r.ContentLength > maxForm {
		return nil, fault.New(fault.TooLarge, "the body is larger than %d bytes", maxForm).
			WithHint("go back and send less; instead of a long document, give its address")
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if r.ParseForm() != nil {
		r.PostForm = url.Values{}
	}
	return r.PostForm, nil
}

// changeSettings stores the chosen language or theme in a cookie.
func (c *Console) changeSettings(w http.ResponseWriter, r *http.Request) {
	f, err := readPosted(w, r)
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

// input is a form that was not accepted. It is shown again with what the person typed.
type input struct {
	Fault  *fault.Error // why; nil: there was no such form
	values url.Values
}

// Value is what the person typed into a field.
func (i input) Value(field string) string { return i.values.Get(field) }

// Ticked reports whether the person has ticked a value of a field.
func (i input) Ticked(field, value string) bool { return slices.Contains(i.values[field], value) }

// rejected tells whether the person can fix the form. Other errors are shown without it.
func rejected(v *visit, err error) (input, bool) {
	f := fault.As(err)
	switch f.Code {
	case fault.BadRequest, fault.BadConfig, fault.Conflict, fault.NotFound, fault.UnknownTool, fault.TooLarge:
		return input{f, v.PostForm}, true
	}
	return input{}, false
}

// policy lets a page load from and send to its own origin only.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP sets security headers, rejects requests of other sites' pages and reads the key
// from the sign-in cookie.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // no-referrer would hide the origin of our own forms
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if err := c.Check(r); err != nil {
		c.showFault(w, c.visitor(r), err)
		return
	}
	r = r.Clone(r.Context())
	_, r.Host = c.Address(r) // as in the browser
	c.openCookie(r)
	c.inner.ServeHTTP(w, r)
}
