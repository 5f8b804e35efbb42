package console

import (
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/state/access"
)

const (
	signInCookie = "toolfit_sign_in"
	signInFor    = 12 * time.Hour
)

// seal encrypts what a cookie holds, and when that expires. Browsers send cookies to every port of the host, so
// they must not reveal anything, and are bound to the user of this machine.
type seal struct {
	aead  cipher.AEAD
	valid time.Duration
	now   func() time.Time
}

// seals are for different cookies, so that none can stand for another.
type seals struct {
	key    *seal // of somebody who signed in with it
	person *seal // the id of somebody who signed in at an identity provider
	login  *seal // a sign-in at a provider that has begun
}

func newSeals(key []byte) seals {
	of := func(purpose string, valid time.Duration) *seal {
		return &seal{access.NewCipher(purpose, key), valid, time.Now}
	}
	return seals{of("console sign-in", signInFor), of("console sign-in of a person", signInFor), of("console login", loginFor)}
}

func (s *seal) close(r *http.Request, text string) string {
	plain := binary.BigEndian.AppendUint64(nil, uint64(s.now().Add(s.valid).Unix()))
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, append(plain, text...), user(r)))
}

// user is the user of this machine, if the system can tell. Behind a proxy it is the proxy's, and another at
// each gateway.
func user(r *http.Request) []byte {
	if access.IsForwarded(r) {
		return []byte{byte(inbound.Unknown)}
	}
	return []byte{byte(inbound.Peer(r))}
}

// open returns the text; "" if the cookie is not ours, of another user, or expired.
func (s *seal) open(r *http.Request, text string) string {
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return ""
	}
	plain, err := s.aead.Open(nil, nil, sealed, user(r))
	if err != nil || len(plain) < 8 || int64(binary.BigEndian.Uint64(plain)) < s.now().Unix() {
		return ""
	}
	return string(plain[8:])
}

// openCookie sets the Authorization header from the cookie, unless the request has one.
func (c *Console) openCookie(r *http.Request) {
	cookie, err := r.Cookie(signInCookie)
	if err != nil || r.Header.Get("Authorization") != "" {
		return
	}
	if key := c.seals.key.open(r, cookie.Value); key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	} else if person := c.seals.person.open(r, cookie.Value); person != "" && c.Logins != nil {
		r.Header.Set("Authorization", "Bearer "+c.Logins.Pass(person))
	}
}

// admit authenticates. A cookie with a deleted key counts as no key.
func (c *Console) admit(r *http.Request) (access.Principal, error) {
	who, err := c.Admit(r)
	if _, noCookie := r.Cookie(signInCookie); noCookie != nil || !fault.Is(err, fault.Unauthorized) {
		return who, err
	}
	r.Header.Del("Authorization")
	return c.Admit(r)
}

// signIn checks a key and sets the cookie.
func (c *Console) signIn(w http.ResponseWriter, r *http.Request) {
	f, err := readPosted(w, r)
	if err != nil {
		c.showFault(w, c.visitor(r), err)
		return
	}
	key := strings.TrimSpace(f.Get("key"))
	r.Header.Set("Authorization", "Bearer "+key)
	if _, err := c.Admit(r); err != nil {
		v := c.visitor(r)
		v.back = localPath(r.PostForm.Get("back"))
		c.showSignIn(w, v, signInPage{Wrong: true})
		return
	}
	c.setCookie(w, r, signInCookie, c.seals.key.close(r, key), signInFor)
	c.redirect(w, r, localPath(r.PostForm.Get("back")))
}

// followLink signs in whoever opens a one-time link first. Others are asked for a key on the page
// to which it leads.
func (c *Console) followLink(w http.ResponseWriter, r *http.Request) {
	if key, ok := c.Link(r.URL.Query().Get("once")); ok {
		r.Header.Set("Authorization", "Bearer "+key)
		if _, err := c.Admit(r); err == nil {
			c.setCookie(w, r, signInCookie, c.seals.key.close(r, key), signInFor)
		}
	}
	c.redirect(w, r, localPath(r.URL.Query().Get("back")))
}

func (c *Console) signOut(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(signInCookie); err == nil && c.Logins != nil {
		if person := c.seals.person.open(r, cookie.Value); person != "" {
			c.Logins.SignedOut(r.Context(), person)
		}
	}
	c.setCookie(w, r, signInCookie, "", -1)
	c.redirect(w, r, "/")
}

// setCookie sets a cookie that scripts cannot read and other sites' requests do not carry.
func (c *Console) setCookie(w http.ResponseWriter, r *http.Request, name, value string, age time.Duration) {
	scheme, _ := c.Address(r)
	seconds := int(age / time.Second)
	if age < 0 {
		seconds = -1
	}
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: c.at("/"), MaxAge: seconds,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: scheme == "https",
	})
}

func (c *Console) redirect(w http.ResponseWriter, r *http.Request, path string) {
	http.Redirect(w, r, c.at(path), http.StatusSeeOther)
}

// localPath is a path of the console; anything else becomes the first page. Browsers leave out what cannot be seen,
// and take a backslash for a slash.
func localPath(path string) string {
	odd := func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsFunc(path, odd) {
		return "/"
	}
	return path
}
