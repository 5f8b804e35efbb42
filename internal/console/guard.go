package console

import (
	"net/http"

	"github.com/toolfit/toolfit/internal/fault"
)

// policy lets a page load and send to nothing but what it came from.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP sets the headers that every answer carries, takes the sign-in out of its cookie,
// and refuses changes that another site's page has asked for.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer a browser sends the forms of our own pages as from nowhere
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	r = r.Clone(r.Context())
	_, r.Host = c.Address(r) // what the browser's Origin is compared with
	c.openCookie(r)
	if err := c.origin.Check(r); err != nil {
		c.showFault(w, c.visitor(r), fault.New(fault.Forbidden, "this change was asked for by a page of another site"))
		return
	}
	c.inner.ServeHTTP(w, r)
}
