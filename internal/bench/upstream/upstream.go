// Package upstream is the MCP server that every gateway under comparison has behind it: over HTTP
// or standard input and output, of the legacy era or of both, with answers that are ready before
// they are asked for. It counts what reaches it. It holds no state of its callers.
//
//	s, err := upstream.New(&upstream.Options{Tools: 200})
//	http.ListenAndServe("127.0.0.1:0", s)
package upstream

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
)

// Options say what a server has and speaks.
type Options struct {
	Set    string        // which tools: SetBench (the default), SetGrowth or SetOdd
	Tools  int           // how many; not for SetOdd
	Server int           // which of several servers with different tools this is, for SetGrowth
	Modern bool          // it speaks 2026-07-28 too, else only what has initialize
	Count  *atomic.Int64 // gets one more for each message; nil for a counter of its own
}

// The sets of tools.
const (
	SetBench  = "bench"  // echo, big and fillers
	SetGrowth = "growth" // many tools with names and texts of their own
	SetOdd    = "odd"    // tools with all that gateways are known to lose
)

// Server answers MCP messages.
type Server struct {
	opts  Options
	lists atomic.Pointer[lists]
	big   sync.Map // results by their size, made when first asked for
	odd   map[string]OddTool
}

// lists are the list of tools as each era has it.
type lists struct {
	legacy, modern []byte
	turn           int // counts the changes
}

// New prepares all answers.
func New(opts *Options) (*Server, error) {
	s := &Server{opts: *opts, odd: map[string]OddTool{}}
	if s.opts.Count == nil {
		s.opts.Count = new(atomic.Int64)
	}
	var list []byte
	switch opts.Set {
	case SetBench, "":
		list = benchTools(opts.Tools)
	case SetGrowth:
		list = growthTools(opts.Server, opts.Tools)
	case SetOdd:
		list = oddTools()
		for _, tool := range OddTools {
			s.odd[tool.Name] = tool
		}
	default:
		return nil, fmt.Errorf("no set of tools is called %q", opts.Set)
	}
	s.use(list, 0)
	return s, nil
}

func (s *Server) use(list []byte, turn int) {
	modern := append(bytes.Clone(list[:len(list)-1]), `,"ttlMs":60000,"cacheScope":"public"}`...)
	s.lists.Store(&lists{list, modern, turn})
}

// Change makes another list of SetBench: the description of echo says how often it has changed. It returns that text.
func (s *Server) Change() string {
	old := s.lists.Load()
	text := fmt.Sprintf("Return the message, by version %d.", old.turn+1)
	s.use(bytes.Replace(benchTools(s.opts.Tools), []byte(echoText), []byte(text), 1), old.turn+1)
	return text
}

// message is what the server reads of a request.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// params are what it reads of a request's params.
type params struct {
	Name      string `json:"name"`
	Arguments struct {
		Message json.RawMessage `json:"message"`
		Bytes   int             `json:"bytes"`
	} `json:"arguments"`
	Meta struct {
		Version string `json:"io.modelcontextprotocol/protocolVersion"`
	} `json:"_meta"`
}

// Answer is the response to one message, nil for a notification.
func (s *Server) Answer(text []byte) ([]byte, error) {
	s.opts.Count.Add(1)
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	if m.ID == nil {
		return nil, nil
	}
	var p params
	if m.Params != nil {
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return nil, err
		}
	}
	modern := s.opts.Modern && p.Meta.Version == modernVersion
	member, value := "result", s.result(&m, &p, modern)
	if value == nil {
		member, value = "error", []byte(`{"code":-32601,"message":"no such method"}`)
	}
	if tool, is := s.odd[p.Name]; is && m.Method == "tools/call" && tool.Error != "" {
		member, value = "error", []byte(tool.Error)
	}
	if modern && member == "result" {
		value = append(value[:len(value)-1:len(value)-1], `,"resultType":"complete"}`...)
	}
	return fmt.Appendf(make([]byte, 0, len(value)+64), `{"jsonrpc":"2.0","id":%s,%q:%s}`, m.ID, member, value), nil
}

const modernVersion = "2026-07-28"

// result is the answer's result, nil if there is no such method.
func (s *Server) result(m *message, p *params, modern bool) []byte {
	switch m.Method {
	case "server/discover":
		if !s.opts.Modern {
			return nil
		}
		return []byte(`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},` +
			`"serverInfo":{"name":"bench","version":"1"},"ttlMs":0,"cacheScope":"public"}`)
	case "initialize":
		return []byte(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}`)
	case "ping":
		return []byte(`{}`)
	case "tools/list":
		if modern {
			return s.lists.Load().modern
		}
		return s.lists.Load().legacy
	case "tools/call":
		return s.call(m, p)
	}
	return nil
}

// call is the result of a tool.
func (s *Server) call(m *message, p *params) []byte {
	switch tool, odd := s.odd[p.Name]; {
	case odd && tool.Result != "":
		return []byte(tool.Result)
	case odd: // it shows its caller what reached it
		text, _ := json.Marshal(string(m.Params)) // a string always works
		return textResult(text)
	case p.Name == "big":
		return s.bigOf(cmp.Or(p.Arguments.Bytes, 50_000))
	case p.Arguments.Message != nil:
		return textResult(p.Arguments.Message)
	}
	return textResult([]byte(`"ok"`))
}

// bigOf is a result of about so many bytes.
func (s *Server) bigOf(size int) []byte {
	have, found := s.big.Load(size)
	if !found {
		have, _ = s.big.LoadOrStore(size, bigResult(size))
	}
	return have.([]byte)
}

// ServeHTTP is the Streamable HTTP transport. The server has nothing to say of its own, and so no stream for it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer, err := s.Answer(text)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	case answer == nil:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if bytes.Contains(text, []byte(`"initialize"`)) {
		w.Header().Set("Mcp-Session-Id", "bench")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(answer)
}

// ServeLines is the stdio transport. It ends with its input.
func (s *Server) ServeLines(in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		answer, err := s.Answer(line)
		if err != nil || answer == nil {
			continue // what is no message has no answer
		}
		if _, err := out.Write(append(answer, '\n')); err != nil {
			return err
		}
	}
}

func textResult(text json.RawMessage) []byte {
	return append(append([]byte(`{"content":[{"type":"text","text":`), text...), "}]}"...)
}
