package script

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Parent and child tell each other JSON in frames: the number of bytes, then the bytes. The child
// says ready; then it gets a start and answers, and says a turn to each.
type start struct {
	Options Options           `json:"options"`
	Code    string            `json:"code"`
	Input   json.RawMessage   `json:"input,omitempty"`
	Globals map[string]string `json:"globals"`
	Seed    [4]uint32         `json:"seed"`
	Now     int64             `json:"now"` // milliseconds since 1970
}

type answer struct {
	Seq   int             `json:"seq"`
	Value json.RawMessage `json:"value,omitempty"`
	Err   *Thrown         `json:"err,omitempty"`
	Now   int64           `json:"now"`
}

// What a child says when it is ready, and when the engine has no memory left.
var (
	ready       = []byte(`"ready"`)
	outOfMemory = []byte(`"out of memory"`)
)

var (
	errTooLarge = errors.New("a frame is too large")
	errMemory   = errors.New("the engine is out of memory")
)

func writeFrame(w io.Writer, frame []byte) error {
	if _, err := w.Write(binary.BigEndian.AppendUint32(nil, uint32(len(frame)))); err != nil {
		return err
	}
	_, err := w.Write(frame)
	return err
}

// readFrame reads one of at most so many bytes. What is announced is not believed: memory grows
// with what comes.
func readFrame(r io.Reader, most int) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(size[:]))
	if n > int64(most) {
		return nil, errTooLarge
	}
	frame := bytes.NewBuffer(make([]byte, 0, min(n, 64<<10)+bytes.MinRead)) // room to see the end without growing
	if got, err := frame.ReadFrom(io.LimitReader(r, n)); err != nil || got < n {
		return nil, errors.Join(err, io.ErrUnexpectedEOF)
	}
	return frame.Bytes(), nil
}

// readTurn reads what a script did. The child is not trusted: the script may have taken it over.
// begun is how many calls there were before.
func readTurn(r io.Reader, begun int, opts *Options) (turn Turn, err error) {
	frame, err := readFrame(r, opts.Output+6*opts.Log+(256<<10)) // a character of the log may be written with six
	if err != nil {
		return Turn{}, err
	}
	if bytes.Equal(frame, outOfMemory) {
		return Turn{}, errMemory
	}
	if !utf8.Valid(frame) {
		return Turn{}, errors.New("a turn is not UTF-8")
	}
	if err := json.Unmarshal(frame, &turn); err != nil {
		return Turn{}, err
	}
	room := opts.Output - len(turn.Result)
	for _, c := range turn.Calls {
		room -= len(c.Args)
		if begun++; c.Seq != begun || begun > opts.Calls || len(c.Args) == 0 || c.Args[0] != '{' {
			return Turn{}, errors.New("a call that cannot be")
		}
		if err := rawjson.Check(c.Args); err != nil {
			return Turn{}, err
		}
	}
	if t := turn.Err; t != nil {
		t.place()
		if rawjson.Check(t.Content) != nil {
			t.Content = nil
		}
		turn.Result = nil
		if t.Name == "InternalError" && t.Message == "out of memory" || t.Name == "" && t.Message == "null" { // it had no memory to say it
			return Turn{}, errMemory
		}
	}
	if turn.Result != nil {
		err = rawjson.Check(turn.Result)
	}
	if room < 0 {
		err = errTooLarge
	}
	return turn, err
}

var frameOfScript = regexp.MustCompile(`<input>:(\d+)`)

// place finds the line in the script, and leaves its own functions in the stack.
func (t *Thrown) place() {
	var own []string
	for line := range strings.Lines(t.Stack) {
		at := frameOfScript.FindStringSubmatch(line)
		if at == nil {
			continue
		}
		if len(own) == 0 {
			t.Line, _ = strconv.Atoi(at[1]) // digits
		}
		own = append(own, strings.Replace(strings.TrimSpace(line), "<input>", "script", 1))
	}
	t.Stack = strings.Join(own, "\n")
}
