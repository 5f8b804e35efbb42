package store

import (
	"bytes"
	"testing"
	"time"
)

func FuzzScanFrames(f *testing.F) {
	r := Result{Ref: "r_1", Owner: "\xff", Tool: "a__b", Args: []byte("{}"), Body: []byte(`"body"`), At: time.UnixMicro(1)}
	one, _, err := appendFrame(nil, &r, &Options{})
	if err != nil {
		f.Fatal(err)
	}
	r.Ref = "r_2"
	two, _, err := appendFrame(bytes.Clone(one), &r, &Options{})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{nil, one, two, two[:len(two)-1], two[:len(one)+3], append(bytes.Clone(one), make([]byte, 100)...),
		[]byte("tfr1")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, segment []byte) {
		reader := bytes.NewReader(segment)
		size := int64(len(segment))
		next := int64(0)
		end, err := scanFrames(reader, size, 0, func(f frame) {
			if f.offset != next || f.size() < frameHead || f.offset+f.size() > size {
				t.Fatalf("frame at %d of %d bytes, in a segment of %d that was read up to %d", f.offset, f.size(), size, next)
			}
			next = f.offset + f.size()
			if _, err := readFrame(reader, framePlace{f.offset, f.size()}, &Options{}); err != nil {
				t.Fatalf("read what was found: %v", err)
			}
		})
		if err != nil || end != next {
			t.Fatalf("ended at %d, %v; the last frame at %d", end, err, next)
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add("1.r_1")
	f.Add("-9223372036854775808.")
	f.Add(".")
	f.Fuzz(func(t *testing.T, text string) {
		at, id, err := parseCursor(text)
		if err != nil || text == "" {
			return
		}
		again, againID, err := parseCursor(cursor(time.UnixMicro(at), id))
		if err != nil || again != at || againID != id {
			t.Fatalf("%q: %d %q, then %d %q, %v", text, at, id, again, againID, err)
		}
	})
}
