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

// seal encrypts sign-in cookies: a person's key and when the sign-in expires. Browsers send the
// cookie to every port of the host, so it must not reveal the key, and is bound to the user of
// this machine.
type seal struct {
	aead cipher.AEAD
	now  func() time.Time
}

func newSeal(key []byte) *seal { return &seal{access.NewCipher("console sign-in", key), time.Now} }

func (s *seal) close(r *http.Request, key string) string {
	plain := binary.BigEndian.AppendUint64(nil, uint64(s.now().Add(signInFor).Unix()))
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, append(plain, key...), user(r)))
}

// user is the user of this machine, if the system can tell. Behind a proxy it is the proxy's, and another at
// each gateway.
func user(r *http.Request) []byte {
	if access.IsForwarded(r) {
		return []byte{byte(inbound.Unknown)}
	}
	return []byte{byte(inbound.Peer(r))}
}

// open returns the key; "" if the cookie is not ours, of another user, or expired.
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
	if key := c.seal.open(r, cookie.Value); key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
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
	f, err := form(w, r)
	if err != nil {
		c.showFault(w, c.visitor(r), err)
		return
	}
	key := strings.TrimSpace(f.Get("key"))
	r.Header.Set("Authorization", "Bearer "+key)
	if _, err := c.Admit(r); err != nil {
		v := c.visitor(r)
		v.back = localPath(r.PostForm.Get("back"))
		c.showSignIn(w, v, err)
		return
	}
	c.setCookie(w, r, signInCookie, c.seal.close(r, key), signInFor)
	c.redirect(w, r, localPath(r.PostForm.Get("back")))
}

// followLink signs in whoever opens a one-time link first. Others are redirected to the first
// page, which asks for a key.
func (c *Console) followLink(w http.ResponseWriter, r *http.Request) {
	if key, ok := c.Link(r.URL.Query().Get("once")); ok {
		r.Header.Set("Authorization", "Bearer "+key)
		if _, err := c.Admit(r); err == nil {
			c.setCookie(w, r, signInCookie, c.seal.close(r, key), signInFor)
		}
	}
	c.redirect(w, r, "/")
}

func (c *Console) signOut(w http.ResponseWriter, r *http.Request) {
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

// localPath is a path of the console; anything else becomes the first page.
func localPath(path string) string {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n") {
		return "/"
	}
	return path
}
