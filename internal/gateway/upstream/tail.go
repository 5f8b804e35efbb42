package upstream

import (
	"bufio"
	"io"
	"regexp"
	"strings"
	"sync"
)

// tail stores the last lines of a server's standard error, and what it wrote to its output that was not a message.
type tail struct {
	redact func(string) string // removes secrets
	said   func(string)        // is told of each line; nil: nobody is

	mu    sync.Mutex
	lines []string
}

const (
	tailLines = 200
	tailWidth = 2000
)

func (t *tail) add(line string) {
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return
	}
	line = t.redact(strings.ToValidUTF8(line, "\uFFFD")) // before the cut, which could split a secret
	if len(line) > tailWidth {
		line = strings.ToValidUTF8(line[:tailWidth], "") + "…"
	}
	if t.said != nil {
		t.said(line)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == tailLines {
		t.lines = append(t.lines[:0], t.lines[1:]...)
	}
	t.lines = append(t.lines, line)
}

// copy reads lines until r ends. A line without end is cut, never waited for.
func (t *tail) copy(r io.Reader) {
	b := bufio.NewReaderSize(r, 8<<10)
	begun := false // the input continues a line whose start was taken already
	for {
		line, err := b.ReadSlice('\n')
		if !begun {
			t.add(string(line))
		}
		begun = err == bufio.ErrBufferFull
		if err != nil && !begun {
			return
		}
	}
}

// errorLine matches how runtimes and npm begin the line that says what went wrong.
var errorLine = regexp.MustCompile(`^(?i:(uncaught )?[\w.$]*(error|exception)|panic|fatal( error)?)( \[\w+\])?: *\S` +
	`|^npm (error|ERR!) \d+ .*\b(Not Found|not be found)\b`)

// nearEnd is how many of the last lines may belong to what ended a server.
const nearEnd = 30

// last is the line that most likely says what went wrong: a recent one that looks like an error, else the last that is not a stack frame.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	said := ""
	for i := len(t.lines) - 1; i >= 0 && (said == "" || i >= len(t.lines)-nearEnd); i-- {
		line := strings.TrimSpace(t.lines[i])
		if line == "" || strings.HasPrefix(line, "at ") || strings.HasPrefix(line, "Node.js v") || line == "}" {
			continue
		}
		named := errorLine.MatchString(line)
		if said == "" || named {
			said = strings.ToValidUTF8(line[:min(len(line), 300)], "") // the cut may split a character
		}
		if named {
			break
		}
	}
	return said
}

func (t *tail) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.lines...)
}
