package record

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/state/store"
)

// Limits of what an upstream's error and a model's arguments can make us store.
const maxMessage, maxRepairs, maxArguments = 4096, 4096, 16 << 10

// complete fills in missing fields of the record, and redacts and shortens its message.
func (l *Log) complete(c *store.Call) {
	if c.At.IsZero() {
		c.At = l.opts.Now()
	}
	if c.ID == "" {
		c.ID = l.NewID()
	}
	if c.Message != "" {
		c.Message = cut(strings.ToValidUTF8(l.redact(c.Message), "\uFFFD"), maxMessage) // redacted first: a cut could halve a secret
	}
	if c.Repairs != "" {
		c.Repairs = cutList(l.redact(c.Repairs), maxRepairs)
	}
	if c.Arguments != nil {
		c.Arguments = &store.Arguments{Sent: l.argument(c.Arguments.Sent), Fitted: l.argument(c.Arguments.Fitted)}
	}
}

// argument is a redacted copy of arguments for the record; nil if they are too long or redacting breaks the JSON.
func (l *Log) argument(raw json.RawMessage) json.RawMessage {
	if raw == nil || len(raw) > maxArguments {
		return nil
	}
	kept := []byte(strings.ToValidUTF8(l.redact(string(raw)), "\uFFFD"))
	if !json.Valid(kept) {
		return nil
	}
	return kept
}

func (l *Log) redact(text string) string {
	if l.opts.Redact == nil {
		return text
	}
	return l.opts.Redact(text)
}

// cut shortens text to at most n bytes, between characters, and shows that it did.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	n -= len("…")
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// cutList drops the last items of a JSON list that is longer than n bytes. What is not a list is dropped whole.
func cutList(list string, n int) string {
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(list), &items); err != nil {
		return ""
	}
	if len(list) <= n {
		return list
	}
	var b strings.Builder
	for _, item := range items {
		if b.Len()+len(item)+len(",]") > n {
			break
		}
		b.WriteString(",")
		b.Write(item)
	}
	if b.Len() == 0 {
		return "[]"
	}
	return "[" + b.String()[1:] + "]"
}
