package budget

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

const configuration = `
store: budget.db
mcpServers:
  legacy: {url: "%[1]s/legacy"}
  modern: {url: "%[1]s/modern"}
  browser: {url: "%[1]s/browser"}
  shop: {builtin: demo-shop}
  cloud: {builtin: demo-cloud}
results: [{tool: "*__cut", keep: "rows(id,label)"}]
profiles:
  legacy: {servers: [legacy]}
  modern: {servers: [modern]}
  browser: {servers: [browser]}
  demo: {servers: [shop, cloud]}
  browser-search: {servers: [browser], search: on}
  demo-search: {servers: [shop, cloud], search: on}
`

// gateway is a whole one with its servers, as it is in production: on a port, with a store and a key.
type gateway struct {
	*app.App
	addr    string
	key     string
	servers map[string]*server
}

// newGateway serves until the test ends. The servers have been listed.
func newGateway(t testing.TB) *gateway {
	t.Helper()
	many := manyTools()
	g := &gateway{servers: map[string]*server{
		legacy: newServer(legacy, many), modern: newServer(modern, many), "browser": newServer(legacy, browserTools(t)),
	}}
	mux := http.NewServeMux()
	for name, s := range g.servers {
		mux.Handle("/"+name, s)
	}
	far := httptest.NewServer(mux)
	t.Cleanup(far.Close)
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), fmt.Appendf(nil, configuration, far.URL), nil)
	check(t, err)
	g.App, err = app.New(t.Context(), cfg, nil)
	check(t, err)
	key, row, err := access.NewKey("budget", access.AnyProfile, access.Admin, nil)
	check(t, err)
	row.CreatedAt = time.Now()
	check(t, g.Store.CreateKey(t.Context(), row))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	g.key = key
	g.addr = l.Addr().String()
	ended := make(chan error, 1)
	go func() { ended <- g.Serve(t.Context(), l, nil) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, p := range cfg.Profiles {
		g.Catalog.Ready(t.Context(), p.Name)
	}
	return g
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// client is a connection to the gateway. It does little itself, because what it allocates is in the figures, too.
type client struct {
	*gateway
	t            testing.TB
	era, profile string
	session      string
	conn         net.Conn
	in           *bufio.Reader
	got          int          // bytes of the last answer, its head included
	body         bytes.Buffer // of the last answer
}

func (g *gateway) dial(t testing.TB, era, profile string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", g.addr)
	check(t, err)
	t.Cleanup(func() { conn.Close() })
	c := &client{gateway: g, t: t, era: era, profile: profile, conn: conn}
	c.in = bufio.NewReader(c)
	if era == legacy {
		c.do(c.request("initialize", "", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"budget","version":"1"}`))
	}
	return c
}

// Read counts what comes in.
func (c *client) Read(b []byte) (int, error) {
	n, err := c.conn.Read(b)
	c.got += n
	return n, err
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"budget","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// request is the bytes of a request. A modern one has more headers, and metadata in its params.
func (c *client) request(method, name, params string) []byte {
	headers := "Mcp-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: " + c.session
	if c.era == modern {
		headers = "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: " + method + "\r\nMcp-Name: " + name
		params = strings.TrimSuffix(modernMeta+","+params, ",")
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)
	return fmt.Appendf(nil, "POST /mcp/%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\n%s\r\nContent-Length: %d\r\n\r\n%s", c.profile, c.addr, c.key, headers, len(body), body)
}

// call is the request of a call.
func (c *client) call(name, args string) []byte {
	return c.request("tools/call", name, fmt.Sprintf(`"name":%q,"arguments":%s`, name, args))
}

// prompt is the request of the tools as text.
func (c *client) prompt(format string) []byte {
	return fmt.Appendf(nil, "GET /api/v1/prompt?profile=%s&format=%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Accept: text/plain\r\n\r\n", c.profile, format, c.addr, c.key)
}

// do sends a request and reads the whole answer.
func (c *client) do(request []byte) {
	c.got = 0
	_, err := c.conn.Write(request)
	check(c.t, err)
	resp, err := http.ReadResponse(c.in, nil)
	check(c.t, err)
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	c.body.Reset()
	_, err = c.body.ReadFrom(resp.Body)
	check(c.t, err)
	if resp.StatusCode != http.StatusOK || bytes.Contains(c.body.Bytes(), []byte(`"isError":true`)) {
		c.t.Fatalf("%s to %.300s: %s", resp.Status, request, c.body.Bytes())
	}
}

// repeat makes a request so many times, and waits until the records of all are written, which is done in batches.
func (c *client) repeat(request []byte, times int) {
	for range times {
		c.do(request)
	}
	c.Records.Flush(c.t.Context())
}
