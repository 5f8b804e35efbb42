package steps

import (
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/secret"
)

// hidden stands where a secret stood.
const hidden = "•••"

// Hide has a text masked from now on. An empty one is none.
func (v *Vars) Hide(text string) {
	text = strings.TrimSpace(text)
	if text == "" || slices.Contains(v.secrets, text) {
		return
	}
	v.secrets = append(v.secrets, text)
	v.finder = secret.NewFinder(v.secrets)
}

// Mask replaces every secret that was used so far, however it is written.
func (v *Vars) Mask(text string) string {
	if v.finder == nil {
		return text
	}
	out, n := v.finder.Redact([]byte(text), hidden)
	if n == 0 {
		return text
	}
	return string(out)
}

// envName is a variable of the environment that a text names.
var envName = regexp.MustCompile(`\$?\$\{env:([^}]*)\}`)

// envNames are those that a file names, each once.
func envNames(known []string, data []byte) []string {
	for _, m := range envName.FindAllSubmatch(data, -1) {
		if name := string(m[1]); !strings.HasPrefix(string(m[0]), "$$") && !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	return known
}
