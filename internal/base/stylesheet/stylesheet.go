// Package stylesheet is the CSS that all pages share: colors in light and dark, type, spacing and
// components. It loads nothing from elsewhere: no font, no image.
//
//	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) {
//		http.ServeContent(w, r, stylesheet.Name, time.Time{}, strings.NewReader(stylesheet.Text()))
//	})
package stylesheet

import (
	_ "embed"
	"net/http"
)

// Name is the file name under which it is served.
const Name = "style.css"

//go:embed style.css
var text string

// Text returns the CSS.
func Text() string { return text }

// ThemeCookie keeps the chosen theme, for all pages.
const ThemeCookie = "toolfit_theme"

// Theme returns the chosen theme: light, dark, or "" for the system's. It goes into data-theme of
// the page's root.
func Theme(r *http.Request) string {
	chosen, err := r.Cookie(ThemeCookie)
	if err != nil || chosen.Value != "light" && chosen.Value != "dark" {
		return ""
	}
	return chosen.Value
}
