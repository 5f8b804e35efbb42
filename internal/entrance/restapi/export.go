package restapi

import (
	"bufio"
	"encoding/json"
	"mime"
	"net/http"
	"strings"

	"github.com/toolfit/toolfit/internal/state/access"
)

// linesType is JSON Lines.
const linesType = "application/x-ndjson"

// accepts tells whether a client asks for a media type by name.
func accepts(r *http.Request, want string) bool {
	for _, one := range strings.Split(strings.Join(r.Header.Values("Accept"), ","), ",") {
		if kind, params, err := mime.ParseMediaType(one); err == nil && kind == want && params["q"] != "0" {
			return true
		}
	}
	return false
}

// exportPage is how many calls are read at once; their arguments may be large.
const exportPage = 200

// ExportCalls writes the matching calls that the caller may read as JSON Lines. It
// reads page by page, so that a slow reader holds no database connection. A late error is the
// last line.
func (a *API) ExportCalls(w http.ResponseWriter, r *http.Request, who access.Principal) {
	f, err := parseFilter(r.URL.Query(), who)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	a.flush(r.Context())
	left := f.limit
	f.Limit = exportPage
	f.Arguments = true
	for first := true; ; first = false {
		rows, err := a.Store.Calls(r.Context(), f.CallFilter)
		if err != nil && first {
			a.fail(w, r, err)
			return
		}
		if first {
			w.Header().Set("Content-Type", linesType)
		}
		buf := bufio.NewWriter(w)
		enc := json.NewEncoder(buf)
		enc.SetEscapeHTML(false)
		if err != nil {
			_ = enc.Encode(map[string]any{"error": a.visible(r, err)}) // write errors show up in Flush
			_ = buf.Flush()
			return
		}
		more := len(rows) == f.Limit
		for _, c := range rows {
			_ = enc.Encode(showWhole(c, who))
			left--
			if left == 0 {
				more = false
				break
			}
		}
		if buf.Flush() != nil || !more {
			return
		}
		_ = http.NewResponseController(w).Flush() // it may not be able to
		if f.Oldest {
			f.After = rows[len(rows)-1].ID
		} else {
			f.Before = rows[len(rows)-1].ID
		}
	}
}
