package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// A segment is a file of frames, one for each result:
//
//	4 bytes      "tfr1"
//	3 lengths    of the metadata, the arguments and the body: uint32, little endian
//	2 checksums  CRC-32C: of everything before it and the metadata; of the arguments and the body
//	metadata     JSON
//	arguments    sealed: the first byte says how
//	body         sealed too
//
// A segment can be read on its own, and a frame that a killed process left half written at its
// end is recognized.
const (
	frameMagic = "tfr1"
	frameHead  = 24
	// maxMeta limits the metadata, which is usually about 300 bytes.
	maxMeta = 64 << 10
	// maxSealed is the longest sealed part.
	maxSealed = maxResult + 64
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frameMeta is a frame's metadata. Its texts are encoded, so that JSON keeps every byte.
type frameMeta struct {
	Ref     string `json:"ref"`
	Owner   string `json:"owner"`
	Call    string `json:"call,omitempty"`
	Server  string `json:"server,omitempty"`
	Tool    string `json:"tool,omitempty"`
	Profile string `json:"profile,omitempty"`
	Session string `json:"session,omitempty"`
	Rule    string `json:"rule,omitempty"`
	At      int64  `json:"at"`
	Expires int64  `json:"expires,omitempty"`
}

func newFrameMeta(r *Result) *frameMeta {
	return &frameMeta{
		Ref: encodeText(r.Ref), Owner: encodeText(r.Owner), Call: encodeText(r.Call),
		Server: encodeText(string(r.Server)), Tool: encodeText(string(r.Tool)), Profile: encodeText(r.Profile),
		Session: encodeText(r.Session), Rule: encodeText(r.Rule), At: micros(r.At), Expires: micros(r.Expires),
	}
}

// result is the result without its arguments and its body.
func (m *frameMeta) result() Result {
	return Result{
		Ref: decodeText(m.Ref), Owner: decodeText(m.Owner), Call: decodeText(m.Call),
		Server: tool.ServerID(decodeText(m.Server)), Tool: tool.Name(decodeText(m.Tool)), Profile: decodeText(m.Profile),
		Session: decodeText(m.Session), Rule: decodeText(m.Rule), At: fromMicros(m.At), Expires: fromMicros(m.Expires),
	}
}

// appendFrame appends the frame of a result. The frame that it returns has no offset yet.
func appendFrame(b []byte, r *Result, opts *Options) ([]byte, frame, error) {
	f := frame{about: *r}
	meta, err := json.Marshal(newFrameMeta(r))
	if err != nil {
		return nil, f, err
	}
	if len(meta) > maxMeta {
		return nil, f, fault.New(fault.TooLarge, "the names of a result have more than %d kB", maxMeta>>10)
	}
	start := len(b)
	payload := start + frameHead + len(meta)
	b = append(append(append(b, frameMagic...), make([]byte, frameHead-len(frameMagic))...), meta...)
	b, args := opts.sealResult(b, r)
	f.meta = int64(len(meta))
	f.args = int64(args)
	f.body = int64(len(b) - payload - args)
	head := b[start:]
	for i, n := range []int64{f.meta, f.args, f.body} {
		binary.LittleEndian.PutUint32(head[4+4*i:], uint32(n))
	}
	binary.LittleEndian.PutUint32(head[16:], headSum(head[:16], meta))
	binary.LittleEndian.PutUint32(head[20:], crc32.Checksum(b[payload:], castagnoli))
	return b, f, nil
}

func headSum(head, meta []byte) uint32 {
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, meta)
}

// frame is a whole frame: where it is and what its head contains.
type frame struct {
	offset           int64
	meta, args, body int64 // lengths
	headSum, bodySum uint32
	about            Result // only its metadata is used
}

func (f *frame) size() int64 { return frameHead + f.meta + f.args + f.body }

// errNoFrame is what ends a segment: nothing, a half-written frame, or damage.
var errNoFrame = errors.New("no frame here")

// parseHead reads the fixed part of a frame.
func parseHead(b []byte) (f frame, err error) {
	if len(b) < frameHead || string(b[:4]) != frameMagic {
		return f, errNoFrame
	}
	number := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	f.meta = int64(number(4))
	f.args = int64(number(8))
	f.body = int64(number(12))
	f.headSum = number(16)
	f.bodySum = number(20)
	if f.meta > maxMeta || f.args > maxSealed || f.body > maxSealed {
		return f, errNoFrame
	}
	return f, nil
}

// parseMeta reads the metadata of a frame from b, which begins with its head.
func (f *frame) parseMeta(b []byte) error {
	meta := b[frameHead : frameHead+f.meta]
	var parsed frameMeta
	if headSum(b[:16], meta) != f.headSum || json.Unmarshal(meta, &parsed) != nil {
		return errNoFrame
	}
	f.about = parsed.result()
	return nil
}

// scanFrames finds the frames of a segment of that size from an offset on, reading only their
// heads. It returns where the last whole one ends.
func scanFrames(r io.ReaderAt, size, offset int64, found func(frame)) (int64, error) {
	buf := make([]byte, 1024) // mostly enough for a head and its metadata
	for {
		f, err := scanFrame(r, size, offset, &buf)
		if errors.Is(err, errNoFrame) {
			return offset, nil
		}
		if err != nil {
			return offset, err
		}
		found(f)
		offset += f.size()
	}
}

func scanFrame(r io.ReaderAt, size, offset int64, buf *[]byte) (f frame, err error) {
	b := (*buf)[:max(0, min(int64(len(*buf)), size-offset))]
	if err := readAt(r, b, offset); err != nil {
		return f, err
	}
	if f, err = parseHead(b); err != nil {
		return f, err
	}
	f.offset = offset
	if offset+f.size() > size {
		return f, errNoFrame
	}
	if whole := frameHead + f.meta; whole > int64(len(b)) {
		*buf = make([]byte, whole)
		b = *buf
		if err := readAt(r, b, offset); err != nil {
			return f, err
		}
	}
	return f, f.parseMeta(b)
}

// readAt fills b. In a file that has become shorter there is no frame at that place.
func readAt(r io.ReaderAt, b []byte, offset int64) error {
	n, err := r.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return errNoFrame
	}
	return err
}

// readFrame reads a whole frame. One that does not match its checksum is damaged.
func readFrame(r io.ReaderAt, at framePlace, opts *Options) (Result, error) {
	b := make([]byte, at.size)
	if err := readAt(r, b, at.offset); err != nil {
		return Result{}, err
	}
	f, err := parseHead(b)
	if err != nil || f.size() != at.size || f.parseMeta(b) != nil {
		return Result{}, errNoFrame
	}
	out := f.about
	payload := b[frameHead+f.meta:]
	if crc32.Checksum(payload, castagnoli) != f.bodySum {
		out.Err = damaged("result " + out.Ref)
		return out, nil
	}
	opts.openResult(&out, payload[:f.args], payload[f.args:])
	return out, nil
}

// readFrameHead reads only a frame's metadata.
func readFrameHead(r io.ReaderAt, at framePlace) (Result, error) {
	buf := make([]byte, 1024)
	f, err := scanFrame(r, at.offset+at.size, at.offset, &buf)
	if err == nil && f.size() != at.size {
		err = errNoFrame
	}
	out := f.about
	out.Size = f.args + f.body
	return out, err
}
