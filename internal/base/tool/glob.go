package tool

import (
	"strings"
	"unicode/utf8"
)

// Match reports whether the name matches the glob: "*" is any run of characters, "?" is one
// character. It does not allocate, and its time is at most the product of the two lengths.
func Match(glob, name string) bool {
	g := 0     // position in glob
	n := 0     // position in name
	star := -1 // after the last star in glob
	from := 0  // where in name the run of that star ends
	for n < len(name) {
		if g < len(glob) && glob[g] == '*' {
			g++
			star = g
			from = n
			continue
		}
		_, size := utf8.DecodeRuneInString(name[n:])
		if g < len(glob) && glob[g] == '?' {
			g++
			n += size
			continue
		}
		if strings.HasPrefix(glob[g:], name[n:n+size]) {
			g += size
			n += size
			continue
		}
		if star < 0 {
			return false
		}
		_, size = utf8.DecodeRuneInString(name[from:]) // let the last star take one more
		from += size
		g = star
		n = from
	}
	return strings.Trim(glob[g:], "*") == ""
}
