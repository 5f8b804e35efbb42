// Package wire is MCP clients for measuring: over Streamable HTTP in both protocol eras, over
// HTTP+SSE as some gateways still serve it, and over standard input and output. They give messages
// as they came, without parsing them, so that what a gateway changed can be seen.
//
//	c, err := wire.DialHTTP("http://127.0.0.1:8420/mcp", wire.Legacy, "", time.Minute)
//	list, err := c.Call("tools/list", "", []byte(`{}`))
package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
)

// Era is a generation of the protocol.
type Era string

// The eras.
const (
	Legacy Era = "legacy" // initialize, and mostly a session
	Modern Era = "modern" // 2026-07-28: every request says all about itself
)

const (
	legacyVersion = "2025-06-18"
	modernVersion = "2026-07-28"
	initialize    = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + legacyVersion +
		`","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	modernMeta  = `"io.modelcontextprotocol/protocolVersion":"` + modernVersion + `",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}`
)

// request is a request whose params are a JSON object without blanks around its braces. Where it has
// _meta, that comes first.
func request(dst []byte, era Era, id int64, method string, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = strconv.AppendInt(dst, id, 10)
	dst = append(dst, `,"method":"`...)
	dst = append(dst, method...)
	dst = append(dst, `","params":{`...)
	rest := params[1:]
	if era == Modern {
		dst = append(dst, `"_meta":{`+modernMeta...)
		if more, has := bytes.CutPrefix(rest, []byte(`"_meta":{`)); has {
			dst = append(dst, ',')
			rest = more
		} else if dst = append(dst, '}'); rest[0] != '}' {
			dst = append(dst, ',')
		}
	}
	dst = append(dst, rest...)
	return append(dst, '}')
}

// events reads an event stream.
type events struct{ in *bufio.Reader }

func newEvents(r io.Reader) *events { return &events{bufio.NewReaderSize(r, 16<<10)} }

// next is the next event that has data.
func (e *events) next() (name string, data []byte, err error) {
	var line []byte
	for {
		part, err := e.in.ReadSlice('\n')
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		} else if err != nil {
			return "", nil, err
		}
		text := bytes.TrimRight(line, "\r\n")
		switch {
		case len(text) == 0 && len(data) > 0:
			return name, data, nil
		case bytes.HasPrefix(text, []byte("event:")):
			name = string(bytes.TrimSpace(text[len("event:"):]))
		case bytes.HasPrefix(text, []byte("data:")):
			data = append(data, bytes.TrimPrefix(text[len("data:"):], []byte(" "))...)
		}
		line = line[:0]
	}
}
