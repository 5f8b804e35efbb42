package console

import "net/http"

// policy lets a page load from and send to its own origin only.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP sets security headers, rejects requests of other sites' pages and reads the key
// from the sign-in cookie.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // no-referrer would hide the origin of our own forms
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if err := c.Check(r); err != nil {
		c.showFault(w, c.visitor(r), err)
		return
	}
	r = r.Clone(r.Context())
	_, r.Host = c.Address(r) // as in the browser
	c.openCookie(r)
	c.inner.ServeHTTP(w, r)
}
