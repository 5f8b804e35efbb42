package picker

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/base/stylesheet"
)

//go:embed page.html over.html page.css page.js text.json
var files embed.FS

// policy is the page's Content-Security-Policy.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pages are the templates and their texts.
type pages struct {
	templates *template.Template
	texts     map[string]map[string]string // language → name → text
}

func loadPages() *pages {
	p := &pages{templates: template.Must(template.New("").Option("missingkey=error").ParseFS(files, "*.html"))}
	raw, err := files.ReadFile("text.json")
	if err == nil {
		err = json.Unmarshal(raw, &p.texts)
	}
	if err != nil {
		panic("picker: read texts: " + err.Error())
	}
	return p
}

type view struct {
	Lang    string
	Theme   string // "": as the system has it
	T       map[string]string
	Session string
	Message string
	Until   string // RFC 3339
}

func (p *Picker) routes() http.Handler {
	shown := loadPages()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{token}/{$}", func(w http.ResponseWriter, r *http.Request) { p.servePage(w, r, shown) })
	mux.HandleFunc("GET /{token}/ws", p.serveSocket)
	mux.HandleFunc("GET "+awaitPath+"{handle}", p.serveAwait)
	for _, name := range []string{"page.css", "page.js"} {
		data, err := files.ReadFile(name)
		if err != nil {
			panic("picker: " + err.Error()) // embedded, so it is there
		}
		mux.Handle("GET /"+name, file(name, data))
	}
	mux.Handle("GET /"+stylesheet.Name, file(stylesheet.Name, []byte(stylesheet.Text())))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer") // the address is a secret
		mux.ServeHTTP(w, r)
	})
}

// servePage shows the page of a wait. It changes nothing, as link previews request it too.
func (p *Picker) servePage(w http.ResponseWriter, r *http.Request, shown *pages) {
	if p.passed(w, r) {
		return
	}
	lang, _, _ := strings.Cut(string(locale.Of(r)), "-")
	v := view{Lang: lang, T: shown.texts[lang], Theme: stylesheet.Theme(r)}
	wait := p.page(r.PathValue("token"))
	if wait == nil {
		shown.write(w, http.StatusNotFound, "over.html", v)
		return
	}
	if err := p.opts.Admit(r, wait.question.Caller); err != nil {
		refuse(w, err)
		return
	}
	v.Session = wait.session
	v.Message = wait.question.Message
	v.Until = wait.until.UTC().Format(time.RFC3339)
	shown.write(w, http.StatusOK, "page.html", v)
}

// refuse answers a caller without access.
func refuse(w http.ResponseWriter, err error) {
	f := fault.As(err)
	status := http.StatusForbidden
	if f.Code == fault.Unauthorized {
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Basic realm="toolfit"`) // a browser asks for the key as a password
	}
	http.Error(w, f.Error(), status)
}

func (p *pages) write(w http.ResponseWriter, status int, name string, v view) {
	var b bytes.Buffer // whole before the first byte goes out
	if err := p.templates.ExecuteTemplate(&b, name, v); err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", v.Lang)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Vary", "Cookie, Accept-Language")
	w.WriteHeader(status)
	w.Write(b.Bytes()) // a reader that went away is no fault of ours
}

func file(name string, data []byte) http.Handler {
	sum := sha256.Sum256(data)
	etag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", etag)
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
	})
}
