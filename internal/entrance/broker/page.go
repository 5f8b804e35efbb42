package broker

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/base/stylesheet"
)

//go:embed *.html
var files embed.FS

// policy is the Content-Security-Policy of all pages. Forms lead to us alone: what follows a form in a browser must be
// allowed too, with every hop at a provider, so the page that answers ours leads on by itself.
const policy = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// pages are the templates.
type pages struct{ templates *template.Template }

func loadPages() *pages {
	text := func(lang locale.Language, key string) string { return lang.Text("broker." + key) }
	funcs := template.FuncMap{"t": text}
	return &pages{template.Must(template.New("").Funcs(funcs).Option("missingkey=error").ParseFS(files, "*.html"))}
}

// view is what a page shows.
type view struct {
	Lang  locale.Language
	Theme string // "": as the system has it

	// The question to a person.
	Host     string // of the client's document; "": it has registered itself
	Name     string // as the client calls itself
	Redirect string // its host
	Local    bool   // it leads to a program on the person's device
	Resource string
	Logins   []login

	Next  template.URL // where the browser goes on by itself
	Error string       // what went wrong
	Hint  string
}

// login is a provider to sign in at.
type login struct{ Issuer, Name string }

func (p *pages) show(w http.ResponseWriter, r *http.Request, status int, name string, v view) {
	v.Lang = locale.Of(r)
	v.Theme = stylesheet.Theme(r)
	v.Error = v.Lang.Translate(v.Error)
	v.Hint = v.Lang.Translate(v.Hint)
	var b bytes.Buffer // whole before the first byte goes out
	if err := p.templates.ExecuteTemplate(&b, name, v); err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers would not say that a form is ours
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Cookie, Accept-Language")
	w.WriteHeader(status)
	w.Write(b.Bytes()) // a reader that went away is no fault of ours
}

// fail shows an error. The browser goes nowhere.
func (b *Broker) fail(w http.ResponseWriter, r *http.Request, p *pages, err error) {
	f := fault.As(err)
	if f.Hides() {
		b.Logger.Error("sign-in not served", "path", r.URL.Path, "error", f)
	}
	p.show(w, r, f.Code.Status(), "error.html", view{Error: f.Message, Hint: f.Hint})
}

func (p *pages) serveStyle(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, stylesheet.Name, time.Time{}, strings.NewReader(stylesheet.Text()))
}
