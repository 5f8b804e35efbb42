package console

import "net/http"

// policy lets a page load and send to nothing but what it came from.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP sets the headers that every answer carries, refuses what another site's page has
// asked for, and takes the sign-in out of its cookie.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer a browser sends the forms of our own pages as from nowhere
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if err := c.Check(r); err != nil {
		c.showFault(w, c.visitor(r), err)
		return
	}
	r = r.Clone(r.Context())
	_, r.Host = c.Address(r) // what the browser asked for
	c.openCookie(r)
	c.inner.ServeHTTP(w, r)
}
