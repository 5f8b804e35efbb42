// Package shell reads a command line as a shell would, and writes one. It runs nothing and fills
// nothing in: $NAME becomes ${NAME}, which stays as it is.
//
//	words, err := shell.Split(`npx -y "my server" --token $TOKEN`)
//	shell.Join(words) // npx -y 'my server' --token '${TOKEN}'
package shell

import (
	"regexp"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// special are the characters that words need quotes for.
const special = " \t\r\n'\"\\$`*?<>|&;()#~{}[]!"

// Join is the words as one line for a shell.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Word(w)
	}
	return strings.Join(quoted, " ")
}

// Word is a word for a shell, in quotes where it needs them.
func Word(word string) string {
	if word == "" || strings.ContainsAny(word, special) {
		return Quote(word)
	}
	return word
}

// Quote is a word in quotes.
func Quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// Split is the words of one command line. What only a shell can do, such as pipes, is refused.
func Split(line string) ([]string, error) {
	s := splitter{rest: line}
	for s.rest != "" {
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	s.end()
	return s.words, nil
}

type splitter struct {
	rest  string
	words []string
	word  strings.Builder
	begun bool // there is a word, if an empty one
}

func (s *splitter) end() {
	if s.begun {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.begun = false
}

func (s *splitter) add(text string, rest string) {
	s.word.WriteString(text)
	s.begun = true
	s.rest = rest
}

// next reads a quote, an escape, a variable or a character.
func (s *splitter) next() error {
	c, rest := s.rest[0], s.rest[1:]
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		s.end()
		s.rest = rest
	case c == '\'':
		inside, after, closed := strings.Cut(rest, "'")
		if !closed {
			return unclosed(c)
		}
		s.add(inside, after)
	case c == '"':
		return s.doubleQuoted(rest)
	case c == '\\':
		s.escaped(rest, " \t'\"\\$`*?<>|&;()#~{}[]!")
	case c == '$':
		s.variable()
	case strings.IndexByte("|&;<>`", c) >= 0:
		return fault.New(fault.BadRequest, "%q is for a shell, and commands are run without one", string(c)).
			WithHint("give one command, or put the character in quotes")
	default:
		s.add(s.rest[:1], rest)
	}
	return nil
}

func (s *splitter) doubleQuoted(rest string) error {
	s.add("", rest)
	for s.rest != "" {
		c, rest := s.rest[0], s.rest[1:]
		switch c {
		case '"':
			s.rest = rest
			return nil
		case '\\':
			s.escaped(rest, "\"\\$`")
		case '$':
			s.variable()
		default:
			s.word.WriteByte(c)
			s.rest = rest
		}
	}
	return unclosed('"')
}

// escaped reads what follows a backslash. Before other characters it stands for itself, as in
// the paths of Windows; before the end of a line it joins two lines.
func (s *splitter) escaped(rest, escapes string) {
	line := strings.TrimPrefix(rest, "\r")
	switch {
	case strings.HasPrefix(line, "\n"):
		s.rest = line[1:]
	case rest != "" && strings.IndexByte(escapes, rest[0]) >= 0:
		s.add(rest[:1], rest[1:])
	default:
		s.add(`\`, rest)
	}
}

var name = regexp.MustCompile(`^\$[A-Za-z_][A-Za-z0-9_]*`)

// variable reads $NAME as ${NAME}. Any other dollar stands for itself.
func (s *splitter) variable() {
	if found := name.FindString(s.rest); found != "" {
		s.add("${"+found[1:]+"}", s.rest[len(found):])
		return
	}
	s.add("$", s.rest[1:])
}

func unclosed(quote byte) error {
	return fault.New(fault.BadRequest, "the command line has a %c without its end", quote).WithHint("close the quote")
}
