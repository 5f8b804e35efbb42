// Package authserver is an authorization server for tests, with an MCP server's door in front of it: it registers
// clients, signs everybody in at once, rotates refresh tokens, ends a family when an old one comes twice, and can be
// made to fail in many ways.
//
//	as := authserver.New(t)
//	as.Fault = authserver.WrongIssuer
package authserver

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Fault is a way in which the server fails.
type Fault string

// The faults.
const (
	None        Fault = ""
	WrongIssuer Fault = "its metadata names another issuer"
	LyingIss    Fault = "its answers name another issuer"
	MissingIss  Fault = "its answers name no issuer, and it promised to"
	Slow        Fault = "it does not answer for a while"
	Broken      Fault = "it answers 500"
	Busy        Fault = "it answers 429"
	HTML        Fault = "it answers with a page"
	Huge        Fault = "it answers without an end"
	NoPKCE      Fault = "it does not say that it has PKCE"
	NoRegister  Fault = "it registers no clients"
	Forgetful   Fault = "it forgets its clients"
	Redirects   Fault = "its token endpoint redirects elsewhere"
	Refuses     Fault = "the person says no"
	NoToken     Fault = "it answers 200 with an error"
	OtherType   Fault = "its tokens are of an unknown type"
)

// Server is an authorization server, and the door of an MCP server, or of an HTTP API below it, that takes its tokens.
type Server struct {
	*httptest.Server
	MCP string // the address of the MCP server

	Mu       sync.Mutex
	Fault    Fault
	At       string        // the path at which the fault shows; "": everywhere
	Lifetime time.Duration // of access tokens
	Grace    time.Duration // in which an old refresh token is taken once more; 0: it ends the family
	Scopes   []string      // that the MCP server demands
	Subject  string        // who signs in next
	Asks     bool          // it shows a page first, on which the person agrees
	Pending  int           // how often a sign-in on another device is not done yet
	Log      []string      // requests, by path
	Proofs   []string      // what clients have proved with that they began what they finish
	Next     http.Handler  // what the MCP server answers to those who get in; nil: {}

	clients  map[string]string // secrets, by id
	codes    map[string]code
	families map[string]*family // by refresh token and by access token
}

type code struct{ challenge, client, redirect, resource, subject string }

type family struct {
	subject, client string
	access, refresh string
	old             string
	rotated         time.Time
	expires         time.Time
	ended           bool
}

// New starts a server.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{Lifetime: time.Hour, Subject: "alice", clients: map[string]string{}, codes: map[string]code{}, families: map[string]*family{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	s.MCP = s.URL + "/mcp"
	t.Cleanup(s.Close)
	return s
}

// Set changes the server while it serves.
func (s *Server) Set(change func()) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	change()
}

// Count is how often a path was asked for.
func (s *Server) Count(path string) (n int) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, one := range s.Log {
		if one == path {
			n++
		}
	}
	return n
}

// Add knows a client from now on, with a secret or, for "", without.
func (s *Server) Add(id, secret string) { s.Set(func() { s.clients[id] = secret }) }

// EndAll makes every token that was given out invalid, before its time.
func (s *Server) EndAll() {
	s.Set(func() {
		for _, f := range s.families {
			f.access = ""
		}
	})
}

// End ends what somebody has granted, without telling.
func (s *Server) End(subject string) {
	s.Set(func() {
		for _, f := range s.families {
			f.ended = f.ended || f.subject == subject
		}
	})
}

// Token returns a token of somebody who got it elsewhere.
func (s *Server) Token(subject string) string {
	f := &family{subject: subject, access: "secret-access-" + rand.Text(), expires: time.Now().Add(time.Hour)}
	s.Set(func() { s.families[f.access] = f })
	return f.access
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Log = append(s.Log, r.URL.Path)
	if s.fails(w, r) {
		return
	}
	if strings.HasPrefix(r.URL.Path, "/mcp/") {
		s.mcp(w, r)
		return
	}
	switch r.URL.Path {
	case "/mcp":
		s.mcp(w, r)
	case "/.well-known/oauth-protected-resource/mcp":
		answer(w, 200, map[string]any{"resource": s.MCP, "authorization_servers": []string{s.URL}, "scopes_supported": s.Scopes})
	case "/.well-known/oauth-authorization-server":
		s.metadata(w)
	case "/register":
		s.register(w, r)
	case "/authorize":
		s.authorize(w, r)
	case "/device":
		s.device(w, r)
	case "/token":
		s.token(w, r)
	case "/revoke":
		s.revoke(w, r)
	default:
		http.NotFound(w, r)
	}
}

// fails answers as a broken server does.
func (s *Server) fails(w http.ResponseWriter, r *http.Request) bool {
	if s.At != "" && s.At != r.URL.Path {
		return false
	}
	switch s.Fault {
	case Slow:
		s.Mu.Unlock()
		select {
		case <-r.Context().Done():
		case <-time.After(20 * time.Second):
		}
		s.Mu.Lock()
	case Broken:
		http.Error(w, `{"error":"server_error"}`, 500)
	case Busy:
		http.Error(w, "slow down", 429)
	case HTML:
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>Sign in</title>")
	case Huge:
		chunk := []byte(strings.Repeat(" ", 1<<16))
		for range 64 {
			if _, err := w.Write(chunk); err != nil {
				break
			}
		}
	case Redirects:
		http.Redirect(w, r, "http://127.0.0.1:9/elsewhere", http.StatusTemporaryRedirect)
	default:
		return false
	}
	return true
}

func (s *Server) mcp(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	f := s.families[token]
	if f == nil || f.access != token || f.ended || time.Now().After(f.expires) {
		challenge := fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, s.URL)
		if len(s.Scopes) > 0 {
			challenge += `, scope="` + strings.Join(s.Scopes, " ") + `"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	r.Header.Set("X-Subject", f.subject)
	if s.Next == nil {
		answer(w, 200, map[string]any{})
		return
	}
	s.Mu.Unlock()
	defer s.Mu.Lock()
	s.Next.ServeHTTP(w, r)
}

func (s *Server) metadata(w http.ResponseWriter) {
	about := map[string]any{
		"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
		"registration_endpoint": s.URL + "/register", "revocation_endpoint": s.URL + "/revoke",
		"device_authorization_endpoint":                  s.URL + "/device",
		"code_challenge_methods_supported":               []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none", "client_secret_basic"},
		"authorization_response_iss_parameter_supported": true,
	}
	switch s.Fault {
	case WrongIssuer:
		about["issuer"] = "https://other.example.com"
	case NoPKCE:
		delete(about, "code_challenge_methods_supported")
	case NoRegister:
		delete(about, "registration_endpoint")
	}
	answer(w, 200, about)
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in)
	id := "client-" + rand.Text()
	s.clients[id] = ""
	in["client_id"] = id
	answer(w, 201, in)
}

func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if _, known := s.clients[q.Get("client_id")]; !known || err != nil || q.Get("code_challenge_method") != "S256" {
		http.Error(w, "unknown client, or no PKCE", 400)
		return
	}
	if s.Asks && r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>Agree</title><form method="post"><button>Agree</button></form>`)
		return
	}
	out := url.Values{"state": {q.Get("state")}, "iss": {s.URL}}
	switch s.Fault {
	case LyingIss:
		out.Set("iss", "https://other.example.com")
	case MissingIss:
		out.Del("iss")
	}
	if s.Fault == Refuses {
		out.Set("error", "access_denied")
		out.Set("error_description", "<b>call +1 5550100 to win</b>")
	} else {
		id := "secret-code-" + rand.Text()
		s.codes[id] = code{q.Get("code_challenge"), q.Get("client_id"), back.String(), q.Get("resource"), s.Subject}
		out.Set("code", id)
	}
	back.RawQuery = out.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	client := r.FormValue("client_id")
	secret := r.FormValue("client_secret")
	if id, basic, ok := r.BasicAuth(); ok {
		client, _ = url.QueryUnescape(id)
		secret, _ = url.QueryUnescape(basic)
	}
	if s.Fault == Forgetful {
		clear(s.clients)
	}
	if known, ok := s.clients[client]; !ok || known != secret {
		answer(w, 401, map[string]any{"error": "invalid_client"})
		return
	}
	switch {
	case s.Fault == NoToken:
		answer(w, 200, map[string]any{"error": "bad_verification_code"})
	case s.Fault == OtherType:
		answer(w, 200, map[string]any{"access_token": "x", "token_type": "mac"})
	case r.FormValue("resource") != s.MCP:
		answer(w, 400, map[string]any{"error": "invalid_target"})
	case r.FormValue("grant_type") == "authorization_code":
		s.redeem(w, r, client)
	case r.FormValue("grant_type") == "urn:ietf:params:oauth:grant-type:device_code":
		s.redeemDevice(w, r, client)
	case r.FormValue("grant_type") == "refresh_token":
		s.refresh(w, r, client)
	case r.FormValue("grant_type") == "client_credentials" && secret != "":
		s.give(w, &family{subject: client, client: client}, false)
	default:
		answer(w, 400, map[string]any{"error": "unsupported_grant_type"})
	}
}

func (s *Server) redeem(w http.ResponseWriter, r *http.Request, client string) {
	s.Proofs = append(s.Proofs, r.FormValue("code_verifier"))
	c, ok := s.codes[r.FormValue("code")]
	delete(s.codes, r.FormValue("code"))
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if !ok || c.client != client || c.redirect != r.FormValue("redirect_uri") || c.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
		answer(w, 400, map[string]any{"error": "invalid_grant"})
		return
	}
	s.give(w, &family{subject: c.subject, client: client}, true)
}

func (s *Server) refresh(w http.ResponseWriter, r *http.Request, client string) {
	given := r.FormValue("refresh_token")
	f := s.families[given]
	if f == nil || f.ended || f.client != client {
		answer(w, 400, map[string]any{"error": "invalid_grant"})
		return
	}
	if given != f.refresh && (given != f.old || time.Since(f.rotated) > s.Grace) {
		f.ended = true // somebody else has it, too
		answer(w, 400, map[string]any{"error": "invalid_grant"})
		return
	}
	f.old = given
	f.rotated = time.Now()
	s.give(w, f, true)
}

func (s *Server) give(w http.ResponseWriter, f *family, renewable bool) {
	f.access = "secret-access-" + rand.Text()
	f.expires = time.Now().Add(s.Lifetime)
	s.families[f.access] = f
	out := map[string]any{"access_token": f.access, "token_type": "Bearer", "expires_in": s.Lifetime.Seconds()}
	if renewable {
		f.refresh = "secret-refresh-" + rand.Text()
		s.families[f.refresh] = f
		out["refresh_token"] = f.refresh
	}
	answer(w, 200, out)
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	if f := s.families[r.FormValue("token")]; f != nil {
		f.ended = true
	}
	w.WriteHeader(200)
}

// Ended tells whether all that was granted has ended.
func (s *Server) Ended() bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	all := []bool{}
	for _, f := range s.families {
		all = append(all, f.ended)
	}
	return !slices.Contains(all, false)
}

func answer(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
