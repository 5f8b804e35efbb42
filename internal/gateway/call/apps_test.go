package call

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// newAppWorld is a world whose server sales has a tool with an app, one that only the app calls, and another one.
func newAppWorld(t *testing.T) *world {
	w := newWorld(t, "", nil)
	row := store.Server{ID: "sales", ListedAt: time.Now()}
	for name, ui := range map[string]string{"show": `{"resourceUri":"ui://sales"}`, "refresh": `{"visibility":["app"]}`, "count": `null`} {
		def := `{"name":"` + name + `","inputSchema":{"type":"object"},"_meta":{"ui":` + ui + `}}`
		row.Tools = append(row.Tools, store.Tool{Name: name, Definition: json.RawMessage(def)})
	}
	views, err := catalog.New(t.Context(), noLister{}, fakeKeeper{[]store.Server{row}}, &catalog.Options{Own: OwnTools(false)})
	if err != nil {
		t.Fatal(err)
	}
	views.Apply(&config.Config{
		Servers: []config.Server{{ID: "sales"}}, ResultStore: "cut",
		Profiles: []config.Profile{{Name: "default", All: true, Budget: 100, Search: config.Search{Mode: "on"}}},
	})
	w.Caller.tools = views
	return w
}

const renders = `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}`

func (w *world) from(capabilities, tool, args string) (*Result, error) {
	return w.as(Request{
		Principal: access.Principal{ID: "ann", Role: access.Caller}, Profile: "default", AsListed: true,
		From: mcp.Speaker{Capabilities: json.RawMessage(capabilities)},
	}, tool, args)
}

func TestWhatAnAppShowsIsNotCut(t *testing.T) {
	w := newAppWorld(t)
	w.answer = rows(9)
	full := rawjson.Get(json.RawMessage(w.answer), "structuredContent")
	whole := func(capabilities, tool string) (structured, content bool) {
		t.Helper()
		res, err := w.from(capabilities, tool, "{}")
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		return string(rawjson.Get(res.Raw, "structuredContent")) == string(full), text(t, res.Raw) == string(full)
	}
	for _, c := range []struct {
		name, capabilities, tool string
		structured, content      bool
	}{
		{"a tool with an app, rendered: the model gets less, the person all", renders, "sales__show", true, false},
		{"a tool with an app, not rendered", "{}", "sales__show", false, false},
		{"a tool without one", renders, "sales__count", false, false},
		{"what only apps call, which no model reads", renders, "sales__refresh", true, true},
		{"what an app calls by its server's name", renders, "count", true, true},
	} {
		if structured, content := whole(c.capabilities, c.tool); structured != c.structured || content != c.content {
			t.Errorf("%s: structuredContent whole %v, content whole %v", c.name, structured, content)
		}
	}
}

func TestModelsDoNotCallWhatIsForApps(t *testing.T) {
	w := newAppWorld(t)
	for name, c := range map[string]struct{ capabilities, tool, args string }{
		"by its name":                     {"{}", "sales__refresh", "{}"},
		"by its server's name":            {"{}", "refresh", "{}"},
		"what others call by such a name": {"{}", "count", "{}"},
		"by call_tool":                    {renders, "call_tool", `{"name":"sales__refresh","arguments":{}}`},
		"by call_tool, by such a name":    {renders, "call_tool", `{"name":"count","arguments":{}}`},
		"described":                       {renders, "describe_tool", `{"name":"sales__refresh"}`},
	} {
		if _, err := w.from(c.capabilities, c.tool, c.args); !fault.Is(err, fault.UnknownTool) && !fault.Is(err, fault.BadArguments) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(w.sent) > 0 {
		t.Errorf("%d calls reached the server", len(w.sent))
	}
	res, err := w.from(renders, "find_tools", `{"query":"refresh"}`)
	if err != nil || strings.Contains(text(t, res.Raw), "sales__refresh") {
		t.Errorf("a search finds it: %v", err)
	}
}
