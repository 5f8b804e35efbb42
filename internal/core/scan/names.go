package scan

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/toolfit/toolfit/internal/base/visible"
)

// Tool is a tool of another server.
type Tool struct {
	Name, Description string
	First             bool // its server was there first: another tool may imitate it, not the other way round
}

// Names are the names of the tools that a definition stands among.
type Names struct {
	own    map[string]bool
	others map[string]Tool
	looks  map[string]string // names of others by what they look like
}

// NewNames returns the names of the tools of a server and of those of all others.
func NewNames(own []string, others []Tool) *Names {
	n := &Names{make(map[string]bool, len(own)), make(map[string]Tool, len(others)), make(map[string]string, len(others))}
	for _, name := range own {
		n.own[name] = true
	}
	for _, t := range others {
		if !n.others[t.Name].First {
			n.others[t.Name] = t
		}
		if t.First {
			n.looks[look(t.Name)] = t.Name
		}
	}
	return n
}

// What a word is among the names of tools.
type naming int

const (
	ordinary naming = iota
	foreign         // a name like those of tools, but not of this server's
	another         // the name of another server's tool
)

// naming says what a word is among the names of tools. A name that is an ordinary word is one.
func (s *scanner) naming(word string) naming {
	n := s.names
	if n == nil || n.own[word] || s.params[word] {
		return ordinary
	}
	named := strings.Contains(word, "_") && strings.ToUpper(word) != word || isCamel(word)
	_, known := n.others[word]
	switch {
	case known && (named || strings.Contains(word, "-")):
		return another
	case named:
		return foreign
	}
	return ordinary
}

// isCamel reports whether a word is written likeThis.
func isCamel(word string) bool {
	i := strings.IndexFunc(word, unicode.IsUpper)
	return i > 1 && unicode.IsLower(rune(word[0])) && unicode.IsLower(rune(word[len(word)-1]))
}

// name examines the name of a tool among those of other servers.
func (s *scanner) name(name, description string) {
	if s.names == nil {
		return
	}
	path := []string{"name"}
	like := look(name)
	same, taken := s.names.others[name]
	other, imitated := s.names.looks[like]
	switch {
	case taken && same.First && same.Description != description && alikeTexts(same.Description, description):
		s.add(Shadow, path, name, "another server has a tool of this name with nearly the same description")
	case taken: // no reason to hold it: many servers have a tool named search, and the same server may be there twice
		s.findings = append(s.findings, Finding{
			Kind: Shadow, Where: "name", Quote: visible.Text(name), Message: "another server has a tool of this name", Note: true,
		})
	case imitated && like != strings.ToLower(name): // it is the one that imitates
		s.add(Shadow, path, name+" ("+other+")", "it looks like the name of another server's tool")
	}
}

// alikeTexts reports whether two texts have most of their words in common.
func alikeTexts(a, b string) bool {
	const enough = 0.6
	words := map[string]int{}
	for i, text := range []string{a, b} {
		for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			words[word] |= 1 << i
		}
	}
	both := 0
	for _, in := range words {
		both += in / 3
	}
	return float64(both) >= enough*float64(len(words)) && both > 2
}

var looksLike = strings.NewReplacer("I", "l", "1", "l", "|", "l", "0", "o")

// look is the same for names that a person takes for each other.
func look(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case visible.Hidden(r):
			return -1
		case alike[r] != 0:
			return alike[r]
		}
		return r
	}, norm.NFKC.String(name))
	return strings.ToLower(looksLike.Replace(name))
}
