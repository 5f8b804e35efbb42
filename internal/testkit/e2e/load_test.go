package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// request is what became of a request of a client under load.
type request struct {
	Kind   string // of the client
	Tool   string // "list": the list of tools
	N      string // names it; its record has it as the session
	From   int64  // Unix milliseconds
	To     int64
	Errors []string // of each try that did not succeed
	Lost   bool     // the result says that it is not on record
}

// reads tells whether a request may be made again when nobody knows what became of it.
func (r *request) reads() bool { return r.Tool == "list" || strings.HasSuffix(r.Tool, "look") }

func (r *request) tries() int {
	if r.reads() {
		return 2
	}
	return 1
}

func (r *request) failed() bool { return len(r.Errors) == r.tries() }

// loadTools are what clients do, in turn.
var loadTools = []string{"list", "old__look", "old__hold", "new__look", "new__hold", "new__ask"}

// load is clients of the official SDKs that call one tool after the other.
type load struct {
	mu   sync.Mutex
	done []request
	over chan struct{}
	work sync.WaitGroup
}

// startLoad starts eight clients: two of the first TypeScript SDK, two of the second, and two of the Go SDK
// in each era.
func startLoad(t *testing.T, url, key string) *load {
	t.Helper()
	l := &load{over: make(chan struct{})}
	l.startScript(t, testparts.Need(t), url+"/mcp", key, "v1", "v1", "legacy", "modern")
	for name, revision := range eras {
		for i := range 2 {
			s := connectAs(t, withKey(url, key), revision, answering())
			l.work.Go(func() { l.use(t.Context(), s, "go "+name, i) })
		}
	}
	t.Cleanup(l.end)
	eventually(t, "all clients are at work", func() bool {
		for _, kind := range loadKinds {
			if l.count(kind) < 2*len(loadTools) {
				return false
			}
		}
		return true
	})
	return l
}

// loadKinds are the kinds of clients, of which there are one or two each.
var loadKinds = []string{"v1", "legacy", "modern", "go legacy", "go modern"}

// end stops the clients and waits for them.
func (l *load) end() {
	select {
	case <-l.over:
	default:
		close(l.over)
	}
	l.work.Wait()
}

func (l *load) add(r request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = append(l.done, r)
}

// count is how many requests of the kinds of clients have ended; without a kind, of all.
func (l *load) count(kinds ...string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.done {
		if len(kinds) == 0 || slices.Contains(kinds, r.Kind) {
			n++
		}
	}
	return n
}

// startScript starts clients in Node. The arguments are the address, the key, and the kind of each.
func (l *load) startScript(t *testing.T, node testparts.Node, args ...string) {
	t.Helper()
	cmd := exec.Command(node.Program(), append([]string{nodeScript(t, node, "load.mjs")}, args...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() }) // it has ended, if all is well
	l.work.Go(func() {
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var r request
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				t.Errorf("the script says %s", lines.Bytes())
			}
			l.add(r)
		}
		io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the script ended: %v", err)
		}
	})
	l.work.Go(func() {
		<-l.over
		in.Close()
	})
}

// withKey is the transport of a client that has a key.
func withKey(url, key string) mcp.Transport {
	keyed := roundTrip(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+key)
		return plainHTTP.Transport.RoundTrip(r)
	})
	return &mcp.StreamableClientTransport{Endpoint: url + "/mcp", HTTPClient: &http.Client{Transport: keyed}}
}

// use is one client in Go.
func (l *load) use(ctx context.Context, s *mcp.ClientSession, kind string, number int) {
	for i := 0; ; i++ {
		for _, tool := range loadTools {
			select {
			case <-l.over:
				return
			case <-time.After(20 * time.Millisecond):
			}
			r := request{Kind: kind, Tool: tool, N: fmt.Sprintf("%s-%d-%d-%s", kind, number, i, tool), From: time.Now().UnixMilli()}
			for len(r.Errors) < r.tries() {
				err := askOnce(ctx, s, &r)
				if err == nil {
					break
				}
				r.Errors = append(r.Errors, err.Error())
			}
			r.To = time.Now().UnixMilli()
			l.add(r)
		}
	}
}

func askOnce(ctx context.Context, s *mcp.ClientSession, r *request) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if r.Tool == "list" {
		list, err := s.ListTools(ctx, nil)
		if err == nil && len(list.Tools) <= 5 {
			err = errors.New("few tools")
		}
		return err
	}
	params := &mcp.CallToolParams{Name: r.Tool, Arguments: map[string]any{"n": r.N, "ms": 20}, Meta: mcp.Meta{"toolfit/session": r.N}}
	result, err := s.CallTool(ctx, params)
	if err != nil {
		return err
	}
	said, _ := json.Marshal(result.Content) // blocks of the SDK
	r.Lost = strings.Contains(string(said), "not on record")
	if result.IsError || !strings.Contains(string(said), `"done `) && !strings.Contains(string(said), `"hello `) {
		return fmt.Errorf("result: %s", said)
	}
	return nil
}
