package visible

import (
	"strings"
	"testing"
)

func TestAWebPageIsToldByItsTitle(t *testing.T) {
	for text, want := range map[string]string{
		"<!DOCTYPE html>\n<html><head><title>Acme &amp;\n Co</title>":  ` "Acme & Co"`,
		"\ufeff <html><style>a{}</style><body><h1>Log in</h1>, please": ` "Log in , please"`,
		"<html><body>": "",
		"<?xml version=\"1.0\"?>\n<!-- x -->\n<HTML><TITLE>a</TITLE>": ` "a"`,
		"<html><title>" + strings.Repeat("中", 100) + "</title>":       ` "` + strings.Repeat("中", 80) + `…"`,
		"<html><title>\x1b[2J</title>":                                ` "\u001b[2J"`,
		`{"a": "<html>"}`:                                             "none",
		"<rss><title>x</title></rss>":                                 "none",
		"":                                                            "none",
	} {
		title, is := Page([]byte(text))
		if !is {
			title = "none"
		}
		if title != want {
			t.Errorf("%q: got %q, want %q", text, title, want)
		}
	}
}

func FuzzPage(f *testing.F) {
	f.Add([]byte("<html><title>&#27;x</title>"))
	f.Add([]byte("<!-- <!-- --><body\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if title, is := Page(text); title != "" && !is || len(title) > 6*90 || Text(title) != title {
			t.Errorf("got %q, %v", title, is)
		}
	})
}
