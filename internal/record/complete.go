package record

import (
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/store"
)

// maxMessage bounds what an upstream's error can make us store.
const maxMessage = 4096

// complete fills in what the record lacks and makes its message fit to be kept.
func (l *Log) complete(c *store.Call) {
	if c.At.IsZero() {
		c.At = l.opts.Now()
	}
	if c.ID == "" {
		c.ID = l.NewID()
	}
	if c.Message == "" {
		return
	}
	if l.opts.Redact != nil {
		c.Message = l.opts.Redact(c.Message) // before the cut, which could halve a secret
	}
	c.Message = cut(strings.ToValidUTF8(c.Message, "\uFFFD"), maxMessage)
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
