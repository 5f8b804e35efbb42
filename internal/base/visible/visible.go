// Package visible shows text of strangers as what it is: everything that a terminal would
// obey, that turns text around or that cannot be seen is written as JSON writes it, \u202e.
// Nothing is lost by that, and JSON stays the JSON it was.
//
//	fmt.Fprintln(visible.NewWriter(os.Stdout), description)
package visible

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Hidden tells whether a character changes how the text around it reads, or cannot be seen.
// Those that join letters and emoji are among them: they are as good for hiding as others.
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

// Text is s with everything hidden made visible.
func Text(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, Hidden) {
		return s
	}
	out, rest := appendVisible(nil, []byte(s))
	return string(appendRest(out, rest))
}

// appendVisible appends text, up to what can only be told together with what follows: half a
// character, or a carriage return, which is harmless before a line feed alone.
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

// appendRest appends what nothing follows.
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

// Writer passes text on with everything hidden made visible. It may be shared.
type Writer struct {
	to io.Writer

	mu   sync.Mutex
	raw  bool
	rest []byte // what was written and cannot be told yet
	room []byte
}

// NewWriter writes to w. Flush must follow the last Write.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// Raw has everything passed on as it is from here on.
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
	w.rest, w.room = append([]byte(nil), rest...), out
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Control writes a sequence of our own for the terminal, as it is.
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

// Unwrap is what is written to.
func (w *Writer) Unwrap() io.Writer { return w.to }
