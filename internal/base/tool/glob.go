package tool

import (
	"strings"
	"unicode/utf8"
)

// Match tells whether the whole name fits the glob: "*" is any run of characters, also
// none, "?" is one character, all else is itself. It allocates nothing, and its time is
// at most the product of the two lengths, however many stars there are.
func Match(glob, name string) bool {
	g, n := 0, 0
	star, from := -1, 0 // after the last star in glob; where in name its run ends
	for n < len(name) {
		if g < len(glob) && glob[g] == '*' {
			g++
			star, from = g, n
			continue
		}
		_, size := utf8.DecodeRuneInString(name[n:])
		if g < len(glob) && glob[g] == '?' {
			g, n = g+1, n+size
			continue
		}
		if strings.HasPrefix(glob[g:], name[n:n+size]) {
			g, n = g+size, n+size
			continue
		}
		if star < 0 {
			return false
		}
		_, size = utf8.DecodeRuneInString(name[from:]) // let the last star take one more
		from += size
		g, n = star, from
	}
	return strings.Trim(glob[g:], "*") == ""
}
