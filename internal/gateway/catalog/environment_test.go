package catalog

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// envTools stand for those of the environment protocol.
var envTools = []json.RawMessage{
	json.RawMessage(`{"name":"env_read","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`),
	json.RawMessage(`{"name":"env_write","inputSchema":{"type":"object"}}`),
}

// environmentView is the view of a profile over a server with prompts, resources and tools.
func environmentView(t *testing.T, p config.Profile) *View {
	t.Helper()
	l := listing("echo", "env_read")
	l.Prompts = l.Tools[:1]
	l.Resources = []json.RawMessage{json.RawMessage(`{"uri":"a://b","name":"b"}`)}
	l.Templates = []json.RawMessage{json.RawMessage(`{"uriTemplate":"a://{x}","name":"x"}`)}
	l.Instructions, l.Era = "Be kind.", mcp.Modern
	c, err := New(t.Context(), fakeLister{func(tool.ServerID) (upstream.Listing, error) { return l, nil }}, fakeKeeper{}, &Options{Own: OwnTools{Env: envTools}, Self: json.RawMessage(`{"name":"self"}`)})
	if err != nil {
		t.Fatal(err)
	}
	p.Name, p.All = "default", true
	c.Apply(&config.Config{Detach: config.DetachOff, Profiles: []config.Profile{p}, Servers: []config.Server{{ID: "s", Command: "s"}}})
	if err := c.Refresh(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	v, err := c.View("default")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTheViewOfAnEnvironmentHasAllOfItsProfile(t *testing.T) {
	v := environmentView(t, config.Profile{Paging: true, Budget: 500, Output: "warn", Search: config.Search{Examples: true}, Environment: config.Environment{Names: "both"}})
	e := v.Environment(true)
	if e == v || e != v.Environment(true) {
		t.Fatal("it is made once, and beside the profile's own")
	}
	fresh := map[string]bool{"environment": true} // what only the profile's own view needs
	was, is := reflect.ValueOf(v.content), reflect.ValueOf(e.content)
	for i := range was.NumField() {
		name := was.Type().Field(i).Name
		if !fresh[name] && !was.Field(i).IsZero() && is.Field(i).IsZero() {
			t.Errorf("%s is not in the view of the environment", name)
		}
	}
	for _, era := range []mcp.Era{mcp.Legacy, mcp.Modern} {
		for _, kind := range []Kind{PromptKind, ResourceKind, TemplateKind} {
			if page(v, era, kind) != page(e, era, kind) {
				t.Errorf("%s: the lists of each %s differ", era, kind)
			}
		}
		a := page(v, era, ToolKind)
		b := page(e, era, ToolKind)
		if strings.Contains(a, `"env_write"`) || !strings.Contains(b, `"env_write"`) || !strings.Contains(b, `"env/write"`) {
			t.Errorf("%s: %s\n%s", era, a, b)
		}
	}
}

func TestAnUpstreamToolDoesNotTakeTheNameOfAnEnvironmentTool(t *testing.T) {
	v := environmentView(t, config.Profile{Names: "bare", Environment: config.Environment{Listed: true, Names: "underscore"}})
	ours, err := v.Find("env_read")
	theirs, err2 := v.Find("s__env_read")
	if err != nil || err2 != nil || !ours.Environment || theirs.Environment || v.Environment(true) != v {
		t.Errorf("%+v, %v; %+v, %v", ours, err, theirs, err2)
	}
}

func TestWhoMayOnlyReadHasNoToolThatChangesAnything(t *testing.T) {
	v := environmentView(t, config.Profile{Environment: config.Environment{Listed: true, Names: "underscore"}}).Environment(false)
	for name, there := range map[string]bool{"env_read": true, "env/read": true, "env_write": false, "env/write": false, "s__echo": false} {
		if _, err := v.Find(name); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	all := ""
	for _, kind := range []Kind{ToolKind, PromptKind, ResourceKind, TemplateKind} {
		all += page(v, mcp.Modern, kind)
	}
	if strings.Contains(all, "echo") || strings.Contains(all, "a://") {
		t.Errorf("%s", all)
	}
	if _, err := v.Owner("a://b"); err == nil {
		t.Error("a resource was found")
	}
	if _, err := v.FindPrompt("s__echo"); err == nil {
		t.Error("a prompt was found")
	}
}
