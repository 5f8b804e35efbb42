package script

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Kinds of messages: to the child start and answer, from it the others. A turn is any number of
// calls and a log, and then one of wait, done and thrown; or a fault.
const (
	kindReady  = "ready"
	kindStart  = "start"
	kindAnswer = "answer"
	kindCall   = "call"
	kindLog    = "log"
	kindWait   = "wait"
	kindDone   = "done"
	kindThrown = "thrown"
	kindFault  = "fault"
)

// message is what parent and child tell each other: the lengths of a head in JSON and of a body
// of any bytes, then both.
type message struct {
	Kind   string  `json:"kind"`
	Start  *start  `json:"start,omitempty"`
	Call   *Call   `json:"call,omitempty"`
	Seq    int     `json:"seq,omitempty"`
	Now    int64   `json:"now,omitempty"` // milliseconds since 1970
	Thrown *Thrown `json:"thrown,omitempty"`
	Text   string  `json:"text,omitempty"`
	Body   bool    `json:"body,omitempty"` // there is one, be it empty
	body   []byte
}

// start is what the child has to know of a script, beside the code and the input, which follow
// each other in the body.
type start struct {
	Options Options           `json:"options"`
	Code    int               `json:"code"` // bytes of the body
	Globals map[string]string `json:"globals"`
	Seed    string            `json:"seed"`
	Input   bool              `json:"input"` // there is one
}

const headMost = 1 << 20

func writeMessage(w io.Writer, m message) error {
	m.Body = m.body != nil
	head, err := rawjson.Marshal(m)
	if err != nil {
		return err
	}
	var sizes [8]byte
	binary.BigEndian.PutUint32(sizes[:], uint32(len(head)))
	binary.BigEndian.PutUint32(sizes[4:], uint32(len(m.body)))
	for _, part := range [][]byte{sizes[:], head, m.body} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

var errTooLarge = errors.New("a message is too large")

// readMessage reads one whose body has at most so many bytes. What is announced is not believed:
// memory grows with what comes.
func readMessage(r io.Reader, most int) (m message, err error) {
	var sizes [8]byte
	if _, err := io.ReadFull(r, sizes[:]); err != nil {
		return m, err
	}
	n, more := binary.BigEndian.Uint32(sizes[:]), binary.BigEndian.Uint32(sizes[4:])
	if n > headMost || uint64(more) > uint64(max(most, 0)) {
		return m, errTooLarge
	}
	head, err := readPart(r, n)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(head, &m); err != nil {
		return m, fmt.Errorf("read a message: %w", err)
	}
	if m.body, err = readPart(r, more); !m.Body {
		m.body = nil
	}
	return m, err
}

func readPart(r io.Reader, n uint32) ([]byte, error) {
	part := bytes.NewBuffer(make([]byte, 0, min(n, 64<<10)+bytes.MinRead)) // room to see the end without growing
	if _, err := part.ReadFrom(io.LimitReader(r, int64(n))); err != nil {
		return nil, err
	}
	if part.Len() < int(n) {
		return nil, io.ErrUnexpectedEOF
	}
	return part.Bytes(), nil
}

// faulty is what a child says that cannot go on.
type faulty string

const outOfMemory faulty = "out of memory"

func (f faulty) Error() string { return string(f) }

// readTurn reads what a child says until its script waits or ends. The child is not trusted: its
// script may have taken it over. begun is how many calls there were before.
func readTurn(r *bufio.Reader, begun int, opts *Options) (turn Turn, err error) {
	room := opts.Output // for arguments
	for {
		m, err := readMessage(r, max(opts.Output, opts.Log+len(logFull)))
		if err != nil {
			return turn, err
		}
		switch m.Kind {
		case kindCall:
			begun++
			room -= len(m.body)
			if m.Call == nil || m.Call.Seq != begun || begun > opts.Calls || room < 0 {
				return turn, errors.New("a call that cannot be")
			}
			m.Call.Args = m.body
			turn.Calls = append(turn.Calls, *m.Call)
			if err := check(m.body); err != nil {
				return turn, err
			}
			continue
		case kindLog:
			if len(turn.Log) > 0 {
				return turn, errors.New("two logs in a turn")
			}
			turn.Log = strings.ToValidUTF8(string(m.body), "�")
			continue
		case kindFault:
			return turn, faulty(m.Text)
		case kindWait:
			return turn, nil
		}
		turn.Done = true
		switch {
		case m.Kind == kindDone:
			turn.Result = m.body
		case m.Kind == kindThrown && m.Thrown != nil:
			turn.Err = m.Thrown
			turn.Err.Content = m.body
		default:
			return turn, fmt.Errorf("a message of an unknown kind %.20q", m.Kind)
		}
		if m.body != nil {
			err = check(m.body)
		}
		return turn, err
	}
}

func check(value []byte) error {
	if !utf8.Valid(value) {
		return errors.New("a value is not UTF-8")
	}
	return rawjson.Check(value)
}
