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
//	4 bytes    "tfr1"
//	3 lengths  of the metadata, the arguments and the body: uint32, little endian
//	2 sums     CRC-32C: of all before it and the metadata; of the arguments and the body
//	metadata   JSON
//	arguments  sealed: the first byte says how
//	body       sealed too
//
// So a segment can be read without anything else, and what a killed process left half
// written at its end is told from what is whole.
const (
	frameMagic = "tfr1"
	frameHead  = 24
	// maxMeta bounds the metadata. It is some 300 bytes.
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

// texts are all texts of the metadata.
func (m *frameMeta) texts() [8]*string {
	return [...]*string{&m.Ref, &m.Owner, &m.Call, &m.Server, &m.Tool, &m.Profile, &m.Session, &m.Rule}
}

// appendFrame appends the frame of a result. The frame that it returns has no offset yet.
func appendFrame(b []byte, r *Result, opts *Options) ([]byte, frame, error) {
	f := frame{about: frameMeta{
		Ref: r.Ref, Owner: r.Owner, Call: r.Call, Server: string(r.Server), Tool: string(r.Tool), Profile: r.Profile,
		Session: r.Session, Rule: r.Rule, At: micros(r.At), Expires: micros(r.Expires),
	}}
	encoded := f.about
	for _, text := range encoded.texts() {
		*text = encodeText(*text)
	}
	meta, err := json.Marshal(&encoded)
	if err != nil {
		return nil, f, err
	}
	if len(meta) > maxMeta {
		return nil, f, fault.New(fault.TooLarge, "the names of a result have more than %d kB", maxMeta>>10)
	}
	start, payload := len(b), len(b)+frameHead+len(meta)
	b = append(append(append(b, frameMagic...), make([]byte, frameHead-len(frameMagic))...), meta...)
	b, args := opts.sealResult(b, r)
	f.meta, f.args, f.body = int64(len(meta)), int64(args), int64(len(b)-payload-args)
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

// frame is where a whole frame is, and what its head says.
type frame struct {
	offset           int64
	meta, args, body int64 // lengths
	headSum, bodySum uint32
	about            frameMeta
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
	f.meta, f.args, f.body = int64(number(4)), int64(number(8)), int64(number(12))
	f.headSum, f.bodySum = number(16), number(20)
	if f.meta > maxMeta || f.args > maxSealed || f.body > maxSealed {
		return f, errNoFrame
	}
	return f, nil
}

// parseMeta reads the metadata of a frame, which comes with its head.
func (f *frame) parseMeta(b []byte) error {
	meta := b[frameHead : frameHead+f.meta]
	if headSum(b[:16], meta) != f.headSum || json.Unmarshal(meta, &f.about) != nil {
		return errNoFrame
	}
	for _, text := range f.about.texts() {
		*text = decodeText(*text)
	}
	return nil
}

// scanFrames finds the frames of a segment of that size, from an offset on, and reads
// nothing but their heads. It returns where the whole ones end.
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
	if f.offset = offset; offset+f.size() > size {
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

// readAt fills b. A file that is shorter than it was has no frame there.
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

// readFrame reads a whole frame. What does not match its sum is said to be damaged.
func readFrame(r io.ReaderAt, offset, size int64, opts *Options) (Result, error) {
	b := make([]byte, size)
	if err := readAt(r, b, offset); err != nil {
		return Result{}, err
	}
	f, err := parseHead(b)
	if err != nil || f.size() != size || f.parseMeta(b) != nil {
		return Result{}, errNoFrame
	}
	out := f.result()
	payload := b[frameHead+f.meta:]
	if crc32.Checksum(payload, castagnoli) != f.bodySum {
		out.Err = damaged("result " + out.Ref)
		return out, nil
	}
	opts.openResult(&out, payload[:f.args], payload[f.args:])
	return out, nil
}

// readFrameHead reads what a frame says of its result.
func readFrameHead(r io.ReaderAt, at keptFrame) (Result, error) {
	buf := make([]byte, 1024)
	f, err := scanFrame(r, at.offset+at.size, at.offset, &buf)
	if err == nil && f.size() != at.size {
		err = errNoFrame
	}
	out := f.result()
	out.Size = f.args + f.body
	return out, err
}

// result is the result without its arguments and its body.
func (f *frame) result() Result {
	m := &f.about
	return Result{
		Ref: m.Ref, Owner: m.Owner, Call: m.Call, Server: tool.ServerID(m.Server), Tool: tool.Name(m.Tool), Profile: m.Profile,
		Session: m.Session, Rule: m.Rule, At: fromMicros(m.At), Expires: fromMicros(m.Expires),
	}
}
