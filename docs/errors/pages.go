// Package pages has a page for each code of package fault: what it means, its usual causes, what
// to do, and what a program should do. They are the Markdown files of this folder, in English
// (CODE.md) and Chinese (CODE.zh.md), as part of the program.
//
//	page, ok := pages.Of("upstream_down", locale.English)
package pages

import (
	"embed"
	"io/fs"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
)

//go:embed *.md
var files embed.FS

// Page is what there is to know about a code.
type Page struct {
	Code    fault.Code `json:"code"`
	Summary string     `json:"summary"`        // the heading without the code
	Text    string     `json:"text,omitempty"` // Markdown
}

// Of returns the page of a code.
func Of(code fault.Code, lang locale.Language) (Page, bool) {
	ending := ".md"
	if lang == locale.Chinese {
		ending = ".zh.md"
	}
	text, err := files.ReadFile(string(code) + ending)
	heading, _, _ := strings.Cut(string(text), "\n")
	summary := strings.TrimLeft(strings.TrimPrefix(heading, "# "+string(code)), ":： ")
	return Page{code, summary, string(text)}, err == nil
}

// All returns the pages of all codes, by code.
func All(lang locale.Language) []Page {
	var all []Page
	names, _ := fs.Glob(files, "*.md") // the pattern is well formed
	for _, name := range names {
		if page, ok := Of(fault.Code(strings.TrimSuffix(name, ".md")), lang); ok && !strings.HasSuffix(name, ".zh.md") {
			all = append(all, page)
		}
	}
	return all
}
