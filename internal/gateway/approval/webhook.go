package approval

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// The headers of a signed message.
const (
	TimeHeader      = "Toolfit-Timestamp" // Unix seconds
	SignatureHeader = "Toolfit-Signature"
)

const (
	signedFor  = 5 * time.Minute // how old a message may be
	tellTries  = 4
	tellWithin = 10 * time.Second
)

// tellAgain is the pause after the first try; each further one is four times as long.
const tellAgain = 2 * time.Second

// sign is the signature of a message about a question.
func sign(secret, at, id string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(at + "." + id + "."))
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// told is what the webhook is told of an open question.
type told struct {
	ID        string          `json:"id"`
	URL       string          `json:"url"`
	Tool      string          `json:"tool"`
	Server    string          `json:"server"`
	Who       string          `json:"who"`
	Rules     []Rule          `json:"rules"`
	Arguments json.RawMessage `json:"arguments"`
	Expires   time.Time       `json:"expires_at"`
}

// tell tells the webhook that a question is open. It tries a few times and then gives up: the page has the question anyway.
func (d *Desk) tell(ctx context.Context, to config.Webhook, a store.Approval, about About) {
	body, err := rawjson.Marshal(told{
		a.ID, d.opts.Page(a.ID), string(a.Tool), string(a.Server), about.Name, about.Rules, about.Arguments, a.Expires,
	})
	for n, pause := 1, tellAgain; err == nil; n, pause = n+1, 4*pause {
		err := d.post(ctx, to, a.ID, body)
		if err == nil {
			return
		}
		d.opts.Logger.Warn("the webhook for approvals was not told", "approval", a.ID, "try", n, "error", d.opts.Redact(err.Error()))
		if n == tellTries {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

func (d *Desk) post(ctx context.Context, to config.Webhook, id string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, tellWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(TimeHeader, at)
	req.Header.Set(SignatureHeader, sign(to.Secret, at, id, body))
	resp, err := d.opts.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	if resp.StatusCode >= 300 {
		return fmt.Errorf("HTTP %d", resp.StatusCode)
	}
	return nil
}

// DecideSigned decides a question by a message that the webhook's secret has signed. A message is good for five minutes and
// one decision: a question that is decided stays so.
func (d *Desk) DecideSigned(ctx context.Context, id string, header http.Header, body []byte) (store.Approval, error) {
	secret := d.opts.Config().Webhook.Secret
	at := header.Get(TimeHeader)
	seconds, err := strconv.ParseInt(at, 10, 64)
	age := time.Since(time.Unix(seconds, 0)).Abs()
	signature := []byte(header.Get(SignatureHeader))
	if secret == "" || err != nil || age > signedFor || !hmac.Equal([]byte(sign(secret, at, id, body)), signature) {
		return store.Approval{}, fault.New(fault.Unauthorized, "the message is not signed with the webhook's secret, or is older than %s",
			signedFor).WithHint("%s: v1= and HMAC-SHA256 of TIMESTAMP.ID.BODY in hex; %s: Unix seconds", SignatureHeader, TimeHeader)
	}
	var in struct {
		Decision string `json:"decision"`
		By       string `json:"by"`
		Reason   string `json:"reason"`
	}
	err = json.Unmarshal(body, &in)
	by := strings.ToValidUTF8(strings.TrimSpace(strings.ReplaceAll(in.By, "\x00", "")), "\uFFFD")
	if err != nil || in.Decision != "approve" && in.Decision != "deny" || by == "" || len(by) > 200 {
		return store.Approval{}, fault.New(fault.BadRequest, `expected {"decision": "approve" or "deny", "by": the name of who decided, "reason"}`)
	}
	ctx = store.As(ctx, store.Actor{Kind: "webhook", Name: by})
	return d.decide(ctx, id, by+" (webhook)", Decision{in.Decision == "approve", in.Reason})
}
