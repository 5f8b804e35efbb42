package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
)

// The servers that bench runs as processes of their own, so that the CPU of each is known.
const (
	modeUpstream = "upstream"
	modeProxy    = "proxy"
)

const toolCount = 200

// listen serves on a free loopback port until ctx ends, and prints its address like toolfit serve.
func listen(ctx context.Context, h http.Handler) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "agents http://%s/mcp\n", l.Addr())
	srv := &http.Server{Handler: h}
	context.AfterFunc(ctx, func() { srv.Close() })
	return srv.Serve(l)
}

// The protocol eras.
const (
	legacy = "legacy"
	modern = "modern"
)

// upstream is an MCP server of one era whose answers are ready before they are asked for.
type upstream struct {
	era    string
	stream bool // answer with event streams
	list   []byte
	big    []byte
	posts  atomic.Int64
}

// newUpstream also counts its POST requests: /stats tells.
func newUpstream(era string, stream bool) http.Handler {
	u := &upstream{era: era, stream: stream, list: toolList(), big: bigResult()}
	if era == modern {
		u.list = append(u.list[:len(u.list)-1], `,"ttlMs":60000,"cacheScope":"public"}`...)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", u)
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, u.posts.Load()) })
	return mux
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	u.posts.Add(1)
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name      string
			Arguments struct{ Message json.RawMessage }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := []byte("{}")
	switch m.Method + " " + m.Params.Name {
	case "server/discover ":
		if u.era == legacy {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		result = []byte(`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"public"}`)
	case "initialize ":
		if u.era == modern {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Mcp-Session-Id", "bench")
		result = []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}`)
	case "tools/list ":
		result = u.list
	case "tools/call echo":
		result = textResult(m.Params.Arguments.Message)
	case "tools/call big":
		result = u.big
	}
	if u.era == modern {
		result = append(result[:len(result)-1:len(result)-1], `,"resultType":"complete"}`...)
	}
	u.answer(w, m.ID, result)
}

// answer writes without a Content-Length, like servers made with the Go SDK: httputil.ReverseProxy
// then flushes each piece as it comes, which matters for the baseline.
func (u *upstream) answer(w http.ResponseWriter, id json.RawMessage, result []byte) {
	format := `{"jsonrpc":"2.0","id":%s,"result":%s}`
	contentType := "application/json"
	if u.stream {
		format = "event: message\ndata: " + format + "\n\n"
		contentType = "text/event-stream"
	}
	w.Header().Set("Content-Type", contentType)
	w.Write(fmt.Appendf(nil, format, id, result))
}

func textResult(text json.RawMessage) []byte {
	return append(append([]byte(`{"content":[{"type":"text","text":`), text...), "}]}"...)
}

// toolList holds echo, big and many more, of the size that definitions have in the wild.
func toolList() []byte {
	tools := []string{
		`{"name":"echo","inputSchema":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}}`,
		`{"name":"big","inputSchema":{"type":"object"}}`,
	}
	for i := len(tools); i < toolCount; i++ {
		tools = append(tools, fmt.Sprintf(`{"name":"filler_%03d","description":"Tool %d is here to be listed. %s",`+
			`"inputSchema":{"type":"object",`+
			`"properties":{"path":{"type":"string","description":"Where to look, from the top of the project."},`+
			`"depth":{"type":"integer","minimum":0,"maximum":32,"description":"How far down to go."},`+
			`"order":{"type":"string","enum":["name","size","time"],"description":"What comes first."},`+
			`"match":{"type":"object","properties":{"text":{"type":"string"},"case":{"type":"boolean"}}}},"required":["path"]}}`,
			i, i, strings.Repeat("Its words say nothing of use. ", 6)))
	}
	return []byte(`{"tools":[` + strings.Join(tools, ",") + `]}`)
}

// bigResult is 50 KB of JSON as text, as many servers answer.
func bigResult() []byte {
	var rows bytes.Buffer
	rows.WriteString(`{"rows":[`)
	for i := 0; rows.Len() < 50_000; i++ {
		fmt.Fprintf(&rows, `{"id":%d,"label":"row %d","state":"ready","size":%d,"tags":["a","b"]},`, i, i, i*37)
	}
	rows.WriteString(`{"id":-1}]}`)
	text, _ := json.Marshal(rows.String()) // a string always works
	return textResult(text)
}

// newProxy is the baseline: the least that forwarding costs. It reads the request's body first, as
// every gateway must that looks at it.
func newProxy(to *url.URL) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		// By default only two connections are kept, and the proxy would mostly dial.
		Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})
}
