package access

import (
	"net/http"
	"strings"
)

// Why tells, for the log, why a request was not let in, and which key it came with, if there is such a key.
func (d *Door) Why(r *http.Request) (reason, key string) {
	header := r.Header.Get("Authorization")
	_, text, _ := strings.Cut(header, " ")
	text = strings.TrimSpace(text)
	switch {
	case IsPassedOn(r):
		return "wrong pass", ""
	case d.Check(r) != nil && d.CheckHost(r) != nil:
		return "wrong host", ""
	case d.Check(r) != nil:
		return "wrong origin", ""
	case header == "" && !d.Closed():
		return "no keys yet, and not local", ""
	case header == "":
		return "no key", ""
	case strings.HasPrefix(text, secretPrefix):
		return "local secret", ""
	case strings.HasPrefix(text, keyPrefix):
		return d.opts.Keys.why(text)
	case d.opts.Token != nil:
		return "token", "" // the verifier logs more
	}
	return "not a key", ""
}

// why tells why a key does not open.
func (k *Keys) why(text string) (reason, key string) {
	id, secret, ok := splitKey(text)
	hash := hashOf(secret) // also of an unknown key, so that the time does not tell which there are
	snap := k.snap.Load()
	if !ok || snap == nil || snap.byID[id] == nil {
		return "unknown key", ""
	}
	if e := snap.byID[id]; e.opens(&hash, k.now()) {
		return "expired key", id
	}
	return "wrong secret", id
}
