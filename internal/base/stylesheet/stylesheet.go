// Package stylesheet is the one look of all pages that we serve: colors in light and dark,
// type, space, and the parts that pages are made of. The console and the page on which people
// pick an environment link to it. It never serves anything itself, and it loads nothing from
// elsewhere: no font, no picture.
//
//	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) {
//		http.ServeContent(w, r, stylesheet.Name, time.Time{}, strings.NewReader(stylesheet.Text()))
//	})
package stylesheet

import (
	_ "embed"
	"net/http"
)

// Name is what the sheet is called where it is served.
const Name = "style.css"

//go:embed style.css
var text string

// Text is the sheet.
func Text() string { return text }

// ThemeCookie keeps the theme that a person has chosen, for all pages alike.
const ThemeCookie = "toolfit_theme"

// Theme is the one that the person who asks has chosen: light, dark, or "" for what the
// system has. It stands as data-theme at the root of a page.
func Theme(r *http.Request) string {
	chosen, err := r.Cookie(ThemeCookie)
	if err != nil || chosen.Value != "light" && chosen.Value != "dark" {
		return ""
	}
	return chosen.Value
}
