package script

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func frameOf(text string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
}

// Whatever a child says, it is a turn that can be or an error, and takes little memory.
func FuzzReadTurn(f *testing.F) {
	for _, text := range []string{
		``, `{}`, `null`, `"out of memory"`, `{"calls":[{"seq":4,"do":"call","args":{}}],"log":"x\n"}`, `{"calls":[{"seq":4,"args":[]}]}`,
		`{"done":true,"result":null}`,
		`{"done":true,"result":[[1]],"err":{"message":"x","stack":"at <input>:99999999999999999999:1\n","content":{}}}`,
		`{"done":true,"err":{"name":"InternalError","message":"out of memory"}}`, `{"calls":[null,{}]}`, "{\"log\":\"\xff\"}",
		`{"done":true,"result":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`,
	} {
		f.Add(frameOf(text))
	}
	f.Add([]byte{255, 255, 255, 255})
	f.Add([]byte{0, 0, 0, 9, 'x'})
	opts := &Options{Calls: 5, Output: 1 << 10, Log: 1 << 10}
	f.Fuzz(func(t *testing.T, said []byte) {
		turn, err := readTurn(bytes.NewReader(said), 3, opts)
		if err != nil {
			return
		}
		if len(turn.Calls) > 2 || len(turn.Result) > opts.Output {
			t.Errorf("too much: %+v", turn)
		}
		for i, c := range turn.Calls {
			if c.Seq != 4+i || !json.Valid(c.Args) || !utf8.Valid(c.Args) {
				t.Errorf("call %+v", c)
			}
		}
		if turn.Result != nil && (!json.Valid(turn.Result) || turn.Err != nil) {
			t.Errorf("result %q", turn.Result)
		}
		if e := turn.Err; e != nil && e.Content != nil && !json.Valid(e.Content) {
			t.Errorf("content %q", e.Content)
		}
	})
}

func TestAFrameIsNotBelieved(t *testing.T) {
	if _, err := readFrame(bytes.NewReader([]byte{0, 0, 1, 1}), 256); !errors.Is(err, errTooLarge) {
		t.Errorf("got %v", err)
	}
	one := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if _, err := readFrame(bytes.NewReader([]byte{1, 255, 255, 255, 'x'}), 1<<30); !errors.Is(err, io.ErrUnexpectedEOF) {
				b.Fatal(err)
			}
		}
	})
	if n := one.AllocedBytesPerOp(); n > 128<<10 {
		t.Errorf("a frame that announces 32 MiB and has one byte takes %d", n)
	}
}

func TestOnlyLargeIntegersNeedCare(t *testing.T) {
	for text, want := range map[string]bool{
		`9007199254740993`: true, `[-1234567890123456]`: true, `{"a":1234567890123456,"b":1}`: true, `1234567890123456.5`: true,
		`123456789012345`: false, `"9007199254740993"`: false, `{"9007199254740993":1}`: false, `0.12345678901234567890`: false,
		`"\"9007199254740993"`: false, `"\\",9007199254740993`: true, `"`: false, `"\`: false, ``: false,
	} {
		if got := hasBig([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
