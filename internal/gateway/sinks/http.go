package sinks

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
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// poster sends records over HTTP. Any answer of 200 to 299 acknowledges them.
type poster struct {
	cfg    config.Sink
	client *http.Client
}

func newPoster(cfg config.Sink) *poster {
	// What is sent is for this address alone: no redirect is followed.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &poster{cfg, &http.Client{CheckRedirect: stay}}
}

func (p *poster) post(ctx context.Context, address string, body []byte, header http.Header) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return fault.Plain(err)
	}
	for name, value := range p.cfg.Headers {
		req.Header.Set(name, value)
	}
	for name := range header {
		req.Header.Set(name, header.Get(name))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "toolfit")
	resp, err := p.client.Do(req)
	if err != nil {
		return fault.Plain(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("the answer is HTTP %d", resp.StatusCode)
	}
	return nil
}

// webhook sends records with a signature over the time and the body.
func (p *poster) webhook(ctx context.Context, records []store.AuditRecord) error {
	body, err := json.Marshal(map[string]any{"records": records})
	if err != nil {
		return err
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(p.cfg.Secret))
	mac.Write([]byte(at + "."))
	mac.Write(body)
	header := http.Header{}
	header.Set("Toolfit-Timestamp", at)
	header.Set("Toolfit-Signature", "v1="+hex.EncodeToString(mac.Sum(nil)))
	return p.post(ctx, p.cfg.URL, body, header)
}

// object is a part of an OTLP message in JSON.
type object map[string]any

// otlp sends records as OpenTelemetry logs. Records that a collector takes and then rejects are acknowledged as well: it
// would not accept them later either.
func (p *poster) otlp(ctx context.Context, records []store.AuditRecord) error {
	logs := make([]object, len(records))
	for i, r := range records {
		whole, err := json.Marshal(r)
		if err != nil {
			return err
		}
		logs[i] = object{
			"timeUnixNano": strconv.FormatInt(r.At.UnixNano(), 10), "eventName": "toolfit.audit",
			"severityNumber": 9, "severityText": "INFO", "body": text(string(whole)),
			"attributes": []object{
				{"key": "toolfit.audit.seq", "value": object{"intValue": strconv.FormatInt(r.Seq, 10)}},
				{"key": "toolfit.audit.action", "value": text(r.Action)},
				{"key": "toolfit.audit.subject", "value": text(r.Subject)},
				{"key": "toolfit.audit.actor.kind", "value": text(r.Actor.Kind)},
				{"key": "toolfit.audit.actor.id", "value": text(r.Actor.ID)},
			},
		}
	}
	body, err := json.Marshal(object{"resourceLogs": []object{{
		"resource":  object{"attributes": []object{{"key": "service.name", "value": text("toolfit")}}},
		"scopeLogs": []object{{"scope": object{"name": "toolfit.audit"}, "logRecords": logs}},
	}}})
	if err != nil {
		return err
	}
	return p.post(ctx, strings.TrimRight(p.cfg.URL, "/")+"/v1/logs", body, nil)
}

func text(s string) object { return object{"stringValue": s} }
