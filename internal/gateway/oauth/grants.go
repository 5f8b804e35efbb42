package oauth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/go-jose/go-jose/v4"

	"github.com/toolfit/toolfit/internal/base/fault"
)

const (
	deviceGrant    = "urn:ietf:params:oauth:grant-type:device_code"
	exchangeGrant  = "urn:ietf:params:oauth:grant-type:token-exchange"
	assertionGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	accessType     = "urn:ietf:params:oauth:token-type:access_token"
	idType         = "urn:ietf:params:oauth:token-type:id_token"
	idJAGType      = "urn:ietf:params:oauth:token-type:id-jag"
	assertionType  = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
)

// assert proves by a signature who we are (RFC 7523). Its audience is the issuer.
func (c *Client) assert(f *Found, r *Registration, form url.Values) error {
	key, err := parseKey(c.cfg.PrivateKey)
	if err != nil {
		return fault.New(fault.BadConfig, "privateKey of %s is %w", c.id, err).WithHint("give it as PEM: -----BEGIN PRIVATE KEY-----")
	}
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return fault.New(fault.BadConfig, "privateKey of %s cannot sign", c.id)
	}
	now := time.Now()
	claims, err := json.Marshal(map[string]any{
		"iss": r.ClientID, "sub": r.ClientID, "aud": f.Issuer, "jti": rand.Text(), "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
	})
	if err != nil {
		return err
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		return err
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		return err
	}
	form.Set("client_id", r.ClientID)
	form.Set("client_assertion_type", assertionType)
	form.Set("client_assertion", text)
	return nil
}

// parseKey reads a private key.
func parseKey(text string) (jose.SigningKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return jose.SigningKey{}, errors.New("not PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		key, err = x509.ParseECPrivateKey(block.Bytes)
	}
	if err != nil {
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	}
	if err != nil {
		return jose.SigningKey{}, errors.New("not a private key")
	}
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return jose.SigningKey{Algorithm: jose.RS256, Key: key}, nil
	case ed25519.PrivateKey:
		return jose.SigningKey{Algorithm: jose.EdDSA, Key: key}, nil
	case *ecdsa.PrivateKey:
		algorithm := map[int]jose.SignatureAlgorithm{256: jose.ES256, 384: jose.ES384, 521: jose.ES512}[key.Curve.Params().BitSize]
		return jose.SigningKey{Algorithm: algorithm, Key: key}, nil
	}
	return jose.SigningKey{}, errors.New("of a kind that cannot sign")
}

// Own gets a token for the gateway itself, by its client's credentials.
func (c *Client) Own(ctx context.Context, f *Found, r *Registration) (*Token, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	if len(f.Scopes) > 0 {
		form.Set("scope", strings.Join(f.Scopes, " "))
	}
	return c.ask(ctx, f, r, form)
}

// Device is a sign-in on another device (RFC 8628).
type Device struct {
	Code     string
	UserCode string
	Page     string // where the code is typed in
	Whole    string // the same with the code in it; "": there is none
	Expires  time.Time
	Interval time.Duration
}

// BeginDevice begins a sign-in on another device.
func (c *Client) BeginDevice(ctx context.Context, f *Found, r *Registration) (*Device, error) {
	if f.Device == "" {
		return nil, c.unusable("%s has no sign-in on another device", f.Issuer).WithHint("use: toolfit login %s --paste", c.id)
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	form := url.Values{}
	header := http.Header{}
	if err := c.prove(f, r, form, header); err != nil {
		return nil, err
	}
	form.Set("client_id", r.ClientID)
	if len(f.Scopes) > 0 {
		form.Set("scope", strings.Join(f.Scopes, " "))
	}
	if f.Resource != "" {
		form.Set("resource", f.Resource)
	}
	began := time.Now()
	status, body, err := c.postForm(ctx, f.Device, form, header)
	if err != nil {
		return nil, c.away(f, "asked for a code", err)
	}
	var answer struct {
		Code     string  `json:"device_code"`
		UserCode string  `json:"user_code"`
		Page     string  `json:"verification_uri"`
		Whole    string  `json:"verification_uri_complete"`
		Expires  float64 `json:"expires_in"`
		Interval float64 `json:"interval"`
		Error    string  `json:"error"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || status != http.StatusOK || answer.Code == "" || !c.acceptable(answer.Page) || !isUserCode(answer.UserCode) {
		return nil, c.unusable("%s gave no code (HTTP %d %s)", f.Issuer, status, shownCode(answer.Error))
	}
	d := &Device{Code: answer.Code, UserCode: answer.UserCode, Page: answer.Page, Interval: 5 * time.Second}
	if c.acceptable(answer.Whole) {
		d.Whole = answer.Whole
	}
	if answer.Interval >= 1 && answer.Interval <= 60 {
		d.Interval = time.Duration(answer.Interval * float64(time.Second))
	}
	d.Expires = began.Add(time.Duration(min(max(answer.Expires, 60), 1800)) * time.Second)
	return d, nil
}

// isUserCode tells whether a code is one that a person can type in, and nothing else that is shown to them.
func isUserCode(code string) bool {
	return len(code) <= 64 && !strings.ContainsFunc(code, func(r rune) bool { return !unicode.IsPrint(r) })
}

// PollDevice asks once whether the person has signed in on the other device; nil: not yet. The next time is not
// before the interval, which grows if the authorization server wants that.
func (c *Client) PollDevice(ctx context.Context, f *Found, r *Registration, d *Device) (*Token, error) {
	t, err := c.ask(ctx, f, r, url.Values{"grant_type": {deviceGrant}, "device_code": {d.Code}})
	var refused *RefusedError
	switch {
	case err == nil:
		return t, nil
	case isRefused(err, "slow_down"):
		d.Interval += 5 * time.Second
		return nil, nil
	case isRefused(err, "authorization_pending") || errors.As(err, &refused) && refused.Passes():
		return nil, nil
	}
	return nil, fault.New(fault.LoginRequired, "the sign-in to %s at %s did not succeed: %w", c.id, f.Issuer, err).WithHint("sign in again")
}
