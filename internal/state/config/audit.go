package config

import (
	"encoding/json"
	"net/url"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/doctree"
)

// Audit says how long the audit log is kept, and where it goes.
type Audit struct {
	Keep  time.Duration
	Sinks []Sink
}

// SinkKind is how records are sent.
type SinkKind string

const (
	OTLPSink    SinkKind = "otlp"
	WebhookSink SinkKind = "webhook"
	SyslogSink  SinkKind = "syslog"
)

// Sink is where the audit log goes.
type Sink struct {
	Kind    SinkKind
	URL     string            // OTLP: without /v1/logs; syslog: with the scheme tcp, tls or unix
	Headers map[string]string // not of syslog
	Secret  string            // signs what a webhook gets
}

func (a *Audit) fields() []field {
	return []field{
		{"keep", durationInto(&a.Keep, day)},
		{"sinks", a.readSinks},
	}
}

func (a *Audit) readSinks(d *decoder, at place, n *node) {
	d.items(at, n, func(inner place, item *node) {
		var s Sink
		kind := func(kind SinkKind, check func(string) string) field {
			return field{string(kind), func(d *decoder, at place, n *node) {
				if s.Kind != "" {
					d.fail(at, "a sink is only one of otlp, webhook and syslog; begin another entry")
					return
				}
				s.Kind = kind
				textInto(&s.URL, check)(d, at, n)
				d.secretsIn(s.URL)
			}}
		}
		whole := d.complete(inner, item, []field{
			kind(OTLPSink, urlLike("http://127.0.0.1:4318")),
			kind(WebhookSink, urlLike("https://example.com/audit")),
			kind(SyslogSink, checkSyslog),
			{"headers", mapInto(&s.Headers, checkHeaderName, checkHeaderValue, func(d *decoder, _, value string) { d.secret(value) })},
			{"secret", textInto(&s.Secret, checkSinkSecret)},
		})
		d.secret(s.Secret)
		twice := slices.ContainsFunc(a.Sinks, func(other Sink) bool { return other.Kind == s.Kind && other.URL == s.URL })
		a.Sinks = append(a.Sinks, s)
		switch {
		case !whole || item.Kind != doctree.Mapping:
		case s.Kind == "":
			d.fail(inner, "needs otlp, webhook or syslog with an address")
		case s.Kind == WebhookSink && s.Secret == "":
			d.fail(inner, "needs secret, which signs what is sent, such as ${AUDIT_SECRET}")
		case s.Kind != WebhookSink && s.Secret != "":
			d.fail(inner, "has a secret, which only a webhook uses; remove it")
		case s.Kind == SyslogSink && len(s.Headers) > 0:
			d.fail(inner, "has headers, which syslog does not know; remove them")
		case twice: // how far it has got is noted by its address
			d.fail(inner, "has the address of another sink; remove one of them")
		}
	})
}

// Document is a configuration file in JSON, without comments; ${} is as written.
func Document(path string, data []byte) (json.RawMessage, error) {
	src, problems := readSource(path, data)
	if src == nil {
		return nil, problems.Err(path)
	}
	return json.Marshal(src.Root)
}

func checkSyslog(s string) string {
	u, err := url.Parse(s)
	if err == nil && (u.Scheme == "tcp" || u.Scheme == "tls") && u.Hostname() != "" || err == nil && u.Scheme == "unix" && u.Host == "" && u.Path != "" {
		return ""
	}
	return "expected an address such as tls://logs.example.com:6514, tcp://10.1.2.3:601 or unix:///dev/log"
}

func checkSinkSecret(s string) string {
	if len(s) < 16 {
		return "is shorter than 16 characters; make one: openssl rand -hex 32"
	}
	return ""
}
