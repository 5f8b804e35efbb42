package authserver

import (
	"crypto/rand"
	"net/http"
)

// device begins a sign-in on another device, which is done after Pending questions.
func (s *Server) device(w http.ResponseWriter, r *http.Request) {
	id := "secret-device-" + rand.Text()
	s.codes[id] = code{client: r.FormValue("client_id"), subject: s.Subject}
	answer(w, 200, map[string]any{
		"device_code": id, "user_code": "WDJB-MJHT", "verification_uri": s.URL + "/activate", "expires_in": 600, "interval": 1,
	})
}

func (s *Server) redeemDevice(w http.ResponseWriter, r *http.Request, client string) {
	c, ok := s.codes[r.FormValue("device_code")]
	switch {
	case !ok || c.client != client:
		answer(w, 400, map[string]any{"error": "invalid_grant"})
	case s.Fault == Refuses:
		answer(w, 400, map[string]any{"error": "access_denied"})
	case s.Pending > 0:
		s.Pending--
		answer(w, 400, map[string]any{"error": "authorization_pending"})
	default:
		delete(s.codes, r.FormValue("device_code"))
		s.give(w, &family{subject: c.subject, client: client}, true)
	}
}
