package fake

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const algorithm = "TC3-HMAC-SHA256"

// checkSignature returns what is wrong with a request's signature, as code and message of the API;
// "": nothing.
func (a *API) checkSignature(r *http.Request, body []byte) (code, message string) {
	auth, ok := parseAuthorization(r.Header.Get("Authorization"))
	if !ok {
		return "AuthFailure.InvalidAuthorization", "The Authorization header is missing or malformed."
	}
	seconds, err := strconv.ParseInt(r.Header.Get("X-TC-Timestamp"), 10, 64)
	signed := time.Unix(seconds, 0).UTC()
	switch {
	case err != nil:
		return "MissingParameter", "X-TC-Timestamp is missing."
	case a.opts.Now().Sub(signed).Abs() > 5*time.Minute:
		return "AuthFailure.SignatureExpire", "The signature is expired: the time differs by more than five minutes."
	case auth.secretID != a.opts.SecretID:
		return "AuthFailure.SecretIdNotFound", "The SecretId is not found, please ensure that your SecretId is correct."
	case r.Header.Get("X-TC-Token") != a.opts.Token:
		return "AuthFailure.TokenFailure", "The token is wrong."
	case !auth.signs("content-type", "host"):
		return "AuthFailure.InvalidAuthorization", "content-type and host must be signed."
	case auth.scope != signed.Format(time.DateOnly)+"/tcb/tc3_request":
		return "AuthFailure.InvalidAuthorization", "The scope of the credential is not that of the request."
	case !hmac.Equal([]byte(auth.signature), []byte(a.signature(r, body, auth))):
		return "AuthFailure.SignatureFailure", "The provided credentials could not be validated. Please check your signature is correct."
	}
	return "", ""
}

type authorization struct {
	secretID, scope, signature string
	headers                    []string
}

func (a authorization) signs(names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(a.headers, n) })
}

func parseAuthorization(header string) (a authorization, ok bool) {
	rest, ok := strings.CutPrefix(header, algorithm+" ")
	if !ok {
		return a, false
	}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "Credential":
			a.secretID, a.scope, _ = strings.Cut(value, "/")
		case "SignedHeaders":
			a.headers = strings.Split(value, ";")
		case "Signature":
			a.signature = value
		}
	}
	return a, a.secretID != "" && a.scope != "" && a.signature != "" && slices.IsSorted(a.headers)
}

// signature computes the expected signature, in the four steps of the API's documentation.
func (a *API) signature(r *http.Request, body []byte, auth authorization) string {
	var canonical strings.Builder
	canonical.WriteString(r.Method + "\n/\n" + r.URL.RawQuery + "\n")
	for _, name := range auth.headers {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		canonical.WriteString(name + ":" + strings.ToLower(strings.TrimSpace(value)) + "\n")
	}
	canonical.WriteString("\n" + strings.Join(auth.headers, ";") + "\n" + hash(body))

	date, rest, _ := strings.Cut(auth.scope, "/")
	service, last, _ := strings.Cut(rest, "/")
	toSign := strings.Join([]string{algorithm, r.Header.Get("X-TC-Timestamp"), auth.scope, hash([]byte(canonical.String()))}, "\n")
	key := []byte("TC3" + a.opts.SecretKey)
	for _, part := range []string{date, service, last, toSign} {
		key = sign(key, part)
	}
	return hex.EncodeToString(key)
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func sign(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
