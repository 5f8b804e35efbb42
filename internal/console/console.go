// Package console is the page for people: servers, their tools and the last calls, on one
// screen. It is rendered on the server from plain view structs and works without
// JavaScript. It never changes anything, never asks an upstream server, and knows nothing
// of where its data comes from.
//
//	http.Handle("/", console.New(src, log))
package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"log/slog"
	"net/http"
	"time"

	"github.com/toolfit/toolfit/internal/fault"
)

//go:embed page.html fault.html style.css
var files embed.FS

// policy lets a page load its own stylesheet and images, and nothing else at all.
const policy = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Source gives what the page shows.
type Source interface {
	// Page gives what the caller of r may see. A *fault.Error is shown to the person;
	// any other error is logged and shown as "internal error".
	Page(r *http.Request) (Page, error)
}

// console answers the page and its stylesheet.
type console struct {
	src   Source
	log   *slog.Logger
	page  *template.Template
	fault *template.Template
	style []byte
	etag  string
}

// New makes the handler for GET / and GET /style.css; a nil log logs nothing.
func New(src Source, log *slog.Logger) http.Handler {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	style, err := files.ReadFile("style.css")
	if err != nil {
		panic("console: " + err.Error()) // embedded, so it is there
	}
	sum := sha256.Sum256(style)
	c := &console{
		src: src, log: log, style: style,
		page:  template.Must(template.New("page.html").Funcs(words()).ParseFS(files, "page.html")),
		fault: template.Must(template.New("fault.html").ParseFS(files, "fault.html")),
		etag:  `"` + hex.EncodeToString(sum[:8]) + `"`,
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", c.showPage)
	mux.HandleFunc("GET /style.css", c.showStyle)
	return guard(mux)
}

// guard sets the headers that every answer carries, the refusals too.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}

func (c *console) showPage(w http.ResponseWriter, r *http.Request) {
	page, err := c.src.Page(r)
	if err != nil {
		c.showFault(w, r, err)
		return
	}
	var b bytes.Buffer // whole before the first byte goes out, so that an error can still be told
	if err := c.page.Execute(&b, newView(page)); err != nil {
		c.showFault(w, r, err)
		return
	}
	write(w, http.StatusOK, b.Bytes())
}

// showFault logs the error and shows what of it a person may see.
func (c *console) showFault(w http.ResponseWriter, r *http.Request, err error) {
	c.log.ErrorContext(r.Context(), "show console", "err", err)
	f := fault.As(err)
	var b bytes.Buffer
	if err := c.fault.Execute(&b, f); err != nil {
		http.Error(w, f.Message, statusOf(f.Code))
		return
	}
	write(w, statusOf(f.Code), b.Bytes())
}

func statusOf(code fault.Code) int {
	switch code {
	case fault.Unauthorized:
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	}
	return http.StatusInternalServerError
}

func write(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store") // the page shows calls of one caller
	w.WriteHeader(status)
	_, _ = w.Write(body) // a reader that went away is no fault of ours
}

func (c *console) showStyle(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", c.etag)
	http.ServeContent(w, r, "style.css", time.Time{}, bytes.NewReader(c.style))
}
