package run

import (
	"embed"
	"strings"
)

//go:embed scripts
var scripts embed.FS

// script is a JavaScript function for the page, without the comment above it.
func script(name string) string {
	text, err := scripts.ReadFile("scripts/" + name + ".js")
	if err != nil {
		panic(err) // a name of ours
	}
	_, function, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(function)
}
