package recall

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
)

const operatorPrefix = "/api/agent-operator-integration/internal-v1"

// Limits of the cache of tool lists.
const (
	listAge      = time.Minute
	maxLists     = 2048
	maxListBytes = 32 << 20
)

// operator is the service agent-operator-integration, which knows tools and calls those of MCP
// servers.
type operator struct {
	remote
	now func() time.Time

	mu    sync.Mutex
	lists map[listKey]*toolList
	bytes int // of all lists
}

// listKey identifies a list: accounts may see different tools of the same server.
type listKey struct {
	server  string
	account Account
}

type toolList struct {
	tools map[string]*remoteTool
	read  time.Time
	bytes int
}

// remoteTool is a tool of a server that only agent-operator-integration knows.
type remoteTool struct {
	def tool.Definition
	fit *fit.Tool // nil: its schema is not known
}

// boxTool is a tool of type tool.
type boxTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Metadata    struct {
		Spec raw `json:"api_spec"`
	} `json:"metadata"`
}

func (o *operator) boxPath(box, between, id string) string {
	return operatorPrefix + "/tool-box/" + url.PathEscape(box) + between + url.PathEscape(id)
}

// boxTool fetches a tool of a tool box.
func (o *operator) boxTool(ctx context.Context, box, id string, who Account) (*boxTool, error) {
	body, err := o.ask(ctx, question{method: http.MethodGet, path: o.boxPath(box, "/tool/", id), account: who}, toolNotFound)
	if err != nil {
		return nil, err
	}
	t := new(boxTool)
	if err := json.Unmarshal(body, t); err != nil {
		return nil, broken(o.name, say("reason.form"), err)
	}
	return t, nil
}

// boxProxy returns the URL that calls a tool of a tool box.
func (o *operator) boxProxy(box, id string) string { return o.base + o.boxPath(box, "/proxy/", id) }

// mcpTool finds a tool of an MCP server. If a cached list lacks it, the list is fetched again.
func (o *operator) mcpTool(ctx context.Context, server, name string, who Account) (*remoteTool, error) {
	key := listKey{server, who}
	if l := o.cached(key); l != nil && l.tools[name] != nil {
		return l.tools[name], nil
	}
	body, err := o.ask(ctx, question{method: http.MethodGet, path: operatorPrefix + "/mcp/proxy/" + url.PathEscape(server) + "/tools",
		account: who}, instanceNotFound)
	if err != nil {
		return nil, err
	}
	l, err := o.readList(body)
	if err != nil {
		return nil, err
	}
	o.cache(key, l)
	if t := l.tools[name]; t != nil {
		return t, nil
	}
	return nil, noTool(server, name)
}

func noTool(server, name string) *problem {
	return notFound(toolNotFound, details{"mcp_id": clipped(server), "tool_name": clipped(name)})
}

func (o *operator) readList(body []byte) (*toolList, error) {
	list := rawjson.Get(body, "tools")
	if kind := kindOf(list); kind != "array" && kind != "null" { // null is some services' empty list
		return nil, broken(o.name, say("reason.kind", "tools", "array", kind), nil)
	}
	l := &toolList{tools: map[string]*remoteTool{}, read: o.now(), bytes: len(body)}
	for w := rawjson.Array(list); w.Next(); {
		def, err := tool.ParseDefinition(w.Value)
		if err != nil {
			continue // a tool without a name cannot be called; the others can
		}
		t := &remoteTool{def: def}
		if in := def.InputSchema(); kindOf(in) == "object" {
			t.fit, _ = fit.Compile(in, nil) // without options nothing is refused
		}
		l.tools[def.Name] = t
	}
	return l, nil
}

// fitter fits arguments to a tool whose list is cached; nil when it is not, or has no schema.
func (o *operator) fitter(t target, who Account) *fit.Tool {
	if l := o.cached(listKey{t.server, who}); l != nil && l.tools[t.name] != nil {
		return l.tools[t.name].fit
	}
	return nil
}

// cached returns a list that has not expired, or nil.
func (o *operator) cached(key listKey) *toolList {
	o.mu.Lock()
	defer o.mu.Unlock()
	if l := o.lists[key]; l != nil && o.now().Sub(l.read) < listAge {
		return l
	}
	return nil
}

func (o *operator) cache(key listKey, l *toolList) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.full(l) {
		for k, old := range o.lists {
			if l.read.Sub(old.read) >= listAge {
				delete(o.lists, k)
				o.bytes -= old.bytes
			}
		}
	}
	if o.full(l) {
		clear(o.lists) // none has expired: fetch them again when needed
		o.bytes = 0
	}
	if old := o.lists[key]; old != nil {
		o.bytes -= old.bytes
	}
	o.lists[key] = l
	o.bytes += l.bytes
}

// full reports whether there is no room for another list.
func (o *operator) full(l *toolList) bool {
	return len(o.lists) >= maxLists || o.bytes+l.bytes > maxListBytes
}

// call calls a tool of an MCP server. If the server's list is cached, a 404 means that the tool is
// gone.
func (o *operator) call(ctx context.Context, server, name string, args raw, who Account) (raw, error) {
	body := rawjson.AppendString([]byte(`{"tool_name":`), name)
	body = append(append(append(body, `,"parameters":`...), args...), '}')
	missing := instanceNotFound
	if o.cached(listKey{server, who}) != nil {
		missing = toolNotFound
	}
	return o.ask(ctx, question{method: http.MethodPost, path: operatorPrefix + "/mcp/proxy/" + url.PathEscape(server) + "/tool/call",
		body: body, account: who}, missing)
}
