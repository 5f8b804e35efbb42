package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/shell"
)

// Curl returns the request as a shell command. Secrets are replaced by the name of their
// scheme, and a binary body by a file name.
func (r *Request) Curl() string {
	parts := []string{"curl"}
	if r.Method == "HEAD" {
		parts = append(parts, "--head")
	} else if r.Method != "GET" || r.Body != nil {
		parts = append(parts, "-X", r.Method)
	}
	parts = append(parts, "--globoff", shell.Quote(r.shownURL))
	for _, key := range slices.Sorted(maps.Keys(r.shownHeader)) {
		for _, v := range r.shownHeader[key] {
			parts = append(parts, "-H", shell.Quote(key+": "+v))
		}
	}
	if r.Body != nil {
		body := string(r.Body)
		if utf8.ValidString(body) && !strings.Contains(body, "\x00") {
			parts = append(parts, "--data-raw", shell.Quote(body))
		} else {
			parts = append(parts, "--data-binary", shell.Quote(fmt.Sprintf("@body-of-%d-bytes", len(r.Body))))
		}
	}
	return strings.Join(parts, " ")
}
