package broker

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	newClientTime  = 24 * time.Hour      // in which a client that has registered itself must sign somebody in
	usedClientTime = 30 * 24 * time.Hour // after the last sign-in
)

// register lets a client register itself (RFC 7591). Whatever it asks for, it has no secret.
func (b *Broker) register(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxDocument))
	c := store.OAuthClient{ID: registeredName + newText(), ExpiresAt: b.Now().Add(newClientTime)}
	if err != nil {
		err = refuse("invalid_client_metadata", "the body must be at most 10 KB")
	} else {
		c.Name, c.Redirects, err = parseRegistration(raw)
	}
	if err == nil {
		err = b.Limit(r)
	}
	if err == nil {
		err = b.Store.SaveClient(r.Context(), c)
	}
	if err != nil {
		b.refused(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	inbound.WriteJSON(w, http.StatusCreated, map[string]any{
		"client_id": c.ID, "client_id_issued_at": b.Now().Unix(), "client_name": c.Name, "redirect_uris": c.Redirects,
		"token_endpoint_auth_method": "none", "grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
	})
}

func parseRegistration(raw []byte) (name string, redirects []string, err error) {
	var m metadata
	wrong := func(one string) bool { return !acceptable(one) }
	switch {
	case json.Unmarshal(raw, &m) != nil:
		err = refuse("invalid_client_metadata", "the body must be a JSON object of the right kind")
	case len(m.Redirects) == 0 || len(m.Redirects) > maxRedirects || slices.ContainsFunc(m.Redirects, wrong):
		err = refuse("invalid_redirect_uri", "redirect_uris must be with https, on this machine, or with a scheme of the application's own")
	case m.GrantTypes != nil && !slices.Contains(m.GrantTypes, "authorization_code"):
		err = refuse("invalid_client_metadata", "grant_types must have authorization_code")
	}
	return shownName(m.Name), m.Redirects, err
}
