// Package visible makes everything hidden in untrusted text visible: characters that control a
// terminal, reverse text or are invisible are written as JSON escapes, such as \u202e. Nothing is
// lost, and JSON stays equivalent.
//
//	fmt.Fprintln(visible.NewWriter(os.Stdout), description)
package visible

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Hidden reports whether a character is invisible or changes how the text around it reads,
// including those that join letters and emoji.
func Hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0xa0:
		return r < 0x20 || r >= 0x7f
	case r == 0x2028, r == 0x2029, r == 0x034f, r >= 0xe0000 && r <= 0xe0fff: // line breaks, and what has no width
		return true
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0: // letters that are blank
		return true
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// Text returns s with everything hidden made visible.
func Text(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, Hidden) {
		return s
	}
	out, rest := appendVisible(nil, []byte(s))
	return string(appendRest(out, rest))
}

// Beginning returns a text of at most so many characters, with … for the rest.
func Beginning(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// appendVisible appends text, except for a rest that depends on what follows: half a character,
// or a carriage return, which is harmless only before a line feed.
func appendVisible(dst, text []byte) (out, rest []byte) {
	for i := 0; i < len(text); {
		if text[i] == '\r' || !utf8.FullRune(text[i:]) {
			switch {
			case i+1 >= len(text) || text[i] != '\r':
				return dst, text[i:]
			case text[i+1] == '\n':
				dst = append(dst, '\r', '\n')
				i += 2
				continue
			}
		}
		r, n := utf8.DecodeRune(text[i:])
		if Hidden(r) {
			dst = appendEscape(dst, r)
		} else {
			dst = utf8.AppendRune(dst, r) // U+FFFD for what is not UTF-8
		}
		i += n
	}
	return dst, nil
}

// appendRest appends the rest at the end of the text.
func appendRest(dst, rest []byte) []byte {
	for _, c := range rest {
		if c == '\r' {
			dst = appendEscape(dst, '\r')
		} else {
			dst = utf8.AppendRune(dst, utf8.RuneError)
		}
	}
	return dst
}

func appendEscape(dst []byte, r rune) []byte {
	for _, unit := range utf16.Encode([]rune{r}) {
		dst = fmt.Appendf(dst, `\u%04x`, unit)
	}
	return dst
}

// Writer writes text with everything hidden made visible. It may be used concurrently.
type Writer struct {
	to io.Writer

	mu   sync.Mutex
	raw  bool
	rest []byte // held back until more is written
	room []byte // reused buffer
}

// NewWriter writes to w. Flush must follow the last Write.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// Raw switches to writing everything unchanged.
func (w *Writer) Raw() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.raw = true
}

func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.raw {
		return w.to.Write(p)
	}
	text := append(w.rest, p...)
	out, rest := appendVisible(w.room[:0], text)
	w.rest = bytes.Clone(rest)
	w.room = out
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Control writes a control sequence of our own unchanged.
func (w *Writer) Control(sequence string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	io.WriteString(w.to, sequence)
}

// Flush writes what was held back.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := appendRest(nil, w.rest)
	w.rest = nil
	if len(rest) == 0 {
		return nil
	}
	_, err := w.to.Write(rest)
	return err
}

// Unwrap returns the underlying writer.
func (w *Writer) Unwrap() io.Writer { return w.to }
