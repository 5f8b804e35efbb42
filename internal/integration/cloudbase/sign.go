package cloudbase

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/http"
	"time"
)

// sign signs a request by TC3-HMAC-SHA256: its host, its Content-Type and its body.
func (s settings) sign(r *http.Request, service string, body []byte, now time.Time) {
	const (
		algorithm = "TC3-HMAC-SHA256"
		last      = "tc3_request"
		signed    = "content-type;host"
	)
	date := now.UTC().Format(time.DateOnly)
	scope := date + "/" + service + "/" + last
	request := fmt.Sprintf("%s\n/\n\ncontent-type:%s\nhost:%s\n\n%s\n%x",
		r.Method, r.Header.Get("Content-Type"), r.Host, signed, sha256.Sum256(body))
	text := fmt.Sprintf("%s\n%d\n%s\n%x", algorithm, now.Unix(), scope, sha256.Sum256([]byte(request)))
	key := []byte("TC3" + s.secretKey)
	for _, part := range []string{date, service, last, text} {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(part))
		key = h.Sum(nil)
	}
	r.Header.Set("X-TC-Timestamp", fmt.Sprint(now.Unix()))
	r.Header.Set("Authorization", fmt.Sprintf("%s Credential=%s/%s, SignedHeaders=%s, Signature=%x", algorithm, s.secretID, scope, signed, key))
}
