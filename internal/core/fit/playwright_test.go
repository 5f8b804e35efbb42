package fit

import (
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// toolList reads a saved list of tools.
func toolList(t *testing.T, file string) map[string]json.RawMessage {
	t.Helper()
	var list struct {
		Tools []struct {
			Name        string
			InputSchema json.RawMessage
		}
	}
	if err := json.Unmarshal(corpora.Read(t, file), &list); err != nil {
		t.Fatal(err)
	}
	out := map[string]json.RawMessage{}
	for _, tool := range list.Tools {
		out[tool.Name] = tool.InputSchema
	}
	return out
}

func keys(m map[string]json.RawMessage) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

// knownTool compiles a tool of a server that is recognized by its list.
func knownTool(t *testing.T, list map[string]json.RawMessage, name string, opts *Options) *Tool {
	t.Helper()
	server := Recognize(Builtin(), keys(list))
	if server.Name() != "playwright-mcp" {
		t.Fatalf("the server is not recognized by %v", keys(list))
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Known = server.Tool(name)
	tool, err := Compile(list[name], &o)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// calls are what people and models ask for, in words of every version.
var calls = []struct{ tool, args string }{
	{"browser_click", `{"element":"login button","ref":"e19"}`},
	{"browser_click", `{"element":"login button","target":"e19"}`},
	{"browser_click", `{"selector":"e19"}`},
	{"browser_click", `{"element":"row","locator":"f7e19","doubleClick":"true"}`},
	{"browser_type", `{"element":"user name","ref":"e18","text":"admin"}`},
	{"browser_type", `{"selector":"e18","value":"admin"}`},
	{"browser_type", `{"target":"e18","content":"123","submit":"True"}`},
	{"browser_type", `{"element":"user name","target":"e18","text":""}`},
	{"browser_wait_for", `{"timeout":1500}`},
	{"browser_wait_for", `{"ms":"250"}`},
	{"browser_wait_for", `{"time":"2"}`},
	{"browser_wait_for", `{"text":"done"}`},
	{"browser_select_option", `{"element":"city","ref":"e3","values":["Paris"]}`},
	{"browser_select_option", `{"selector":"e3","value":"Paris"}`},
	{"browser_select_option", `{"target":"e3","option":"Paris"}`},
	{"browser_fill_form", `{"fields":[{"name":"user","type":"textbox","ref":"e5","value":"admin"}]}`},
	{"browser_fill_form", `{"fields":[{"name":"ok","type":"checkbox","target":"e6","value":true,"element":"the box"}]}`},
	{"browser_fill_form", `{"fields":{"name":"age","type":"Slider","selector":"e7","value":12}}`},
	{"browser_fill_form", `{"fields":"[{\"name\":\"ok\",\"type\":\"checkbox\",\"ref\":\"e6\",\"value\":\"勾选\"}]"}`},
	{"browser_snapshot", `{}`},
	{"browser_snapshot", ``},
	{"browser_navigate", `{"url":"http://127.0.0.1/a"}`},
	{"browser_navigate", `{"href":"http://127.0.0.1/a"}`},
	{"browser_press_key", `{"key":"Enter"}`},
	{"browser_hover", `{"element":"menu","target":"e4"}`},
	{"browser_drag", `{"startElement":"a","startRef":"e1","endElement":"b","endRef":"e2"}`},
	{"browser_drag", `{"startTarget":"e1","endTarget":"e2"}`},
	{"browser_evaluate", `{"script":"() => 1"}`},
	{"browser_file_upload", `{"path":"/tmp/a.txt"}`},
	{"browser_handle_dialog", `{"accept":"true"}`},
	{"browser_resize", `{"width":"800","height":"600"}`},
	{"browser_take_screenshot", `{}`},
}

func TestOneSetOfCallsFitsEveryVersion(t *testing.T) {
	for _, file := range corpora.Glob(t, "browser/tools/*.json") {
		t.Run(strings.TrimSuffix(path.Base(file), ".json"), func(t *testing.T) {
			list := toolList(t, file)
			fitted := 0
			for _, c := range calls {
				if list[c.tool] == nil {
					if c.tool != "browser_fill_form" {
						t.Errorf("there is no %s", c.tool)
					}
					continue
				}
				tool := knownTool(t, list, c.tool, nil)
				res, err := tool.Fit(t.Context(), []byte(c.args))
				if c.tool == "browser_take_screenshot" && err != nil && strings.Contains(string(list[c.tool]), `"required"`) &&
					!strings.Contains(string(list[c.tool]), `"default"`) {
					continue // a required argument without a default
				}
				if err != nil {
					t.Errorf("%s %s: %v", c.tool, c.args, err)
					continue
				}
				fitted++
				judge, err := oracle(tool.Schema())
				if err != nil {
					t.Fatal(err)
				}
				args := res.Args
				if len(args) == 0 {
					args = []byte("{}")
				}
				if !valid(judge, args) {
					t.Errorf("%s %s became %s, which the list does not allow", c.tool, c.args, args)
				}
			}
			t.Logf("%d of %d calls fit", fitted, len(calls))
		})
	}
}

// withRef and withTarget are what a tool is like before and after the server renamed its key.
var (
	withRef = map[string]json.RawMessage{
		"browser_type": json.RawMessage(`{"type":"object","properties":{"ref":{"type":"string"},"text":{"type":"string"}},` +
			`"required":["ref","text"]}`),
		"browser_click": json.RawMessage(`{"type":"object","properties":{"ref":{"type":"string"}},"required":["ref"],` +
			`"additionalProperties":false}`),
	}
	withTarget = map[string]json.RawMessage{
		"browser_click": json.RawMessage(`{"type":"object","properties":{"element":{"type":"string"},"target":{"type":"string"}},` +
			`"required":["target"],"additionalProperties":false}`),
		"browser_wait_for": json.RawMessage(`{"type":"object","properties":{"time":{"type":"number"},"text":{"type":"string"},` +
			`"textGone":{"type":"string"}},"additionalProperties":false}`),
		"browser_fill_form": json.RawMessage(`{"type":"object","properties":{"fields":{"type":"array","items":{"type":"object","properties":{"element":{"type":"string"},
			"target":{"type":"string"},"name":{"type":"string"},"type":{"type":"string","enum":["textbox","checkbox","radio"]},"value":{"type":"string"}},
			"required":["target","name","type","value"],"additionalProperties":false}}},"required":["fields"],"additionalProperties":false}`),
	}
)

func TestArgumentsOfAKnownServer(t *testing.T) {
	field := func(s string) string {
		return `{"fields":[{"target":"e1","name":"n",` + s + `}]}`
	}
	cases := []struct {
		name       string
		list       map[string]json.RawMessage
		tool, args string
		want       string // or, after "!", a part of the refusal
	}{
		{"the old command becomes ref and text, exactly", withRef, "browser_type", `{"selector":"e18","value":"admin"}`,
			`{"ref":"e18","text":"admin"}`},
		{"and ref alone", withRef, "browser_click", `{"selector":"e19"}`, `{"ref":"e19"}`},
		{"words for people are dropped where the tool has no place for them", withRef, "browser_type",
			`{"element":"user","ref":"e18","text":"admin"}`, `{"ref":"e18","text":"admin"}`},
		{"a number to type is text", withRef, "browser_type", `{"selector":"e1","value":1.50}`, `{"ref":"e1","text":"1.50"}`},
		{"ref becomes target", withTarget, "browser_click", `{"element":"login","ref":"e19"}`, `{"element":"login","target":"e19"}`},
		{"a selector is a target", withTarget, "browser_click", `{"selector":"#login > a"}`, `{"target":"#login > a"}`},
		{"a selector is no ref", withRef, "browser_click", `{"selector":"#login"}`, `!take a snapshot`},
		{"a target that is no ref is none either", withRef, "browser_click", `{"target":"text=Login"}`, `!/ref: missing`},
		{"the same said twice is said once", withTarget, "browser_click", `{"ref":"e1","target":"e1"}`, `{"target":"e1"}`},
		{"two targets are refused", withTarget, "browser_click", `{"ref":"e1","target":"e2"}`, `!give target alone`},
		{"an empty target is refused", withTarget, "browser_click", `{"target":" "}`, `!/target: expected text that is not empty`},
		{"milliseconds become seconds", withTarget, "browser_wait_for", `{"timeout":1500}`, `{"time":1.5}`},
		{"also in text, and exactly", withTarget, "browser_wait_for", `{"ms":"1"}`, `{"time":0.001}`},
		{"seconds stay", withTarget, "browser_wait_for", `{"time":1500}`, `{"time":1500}`},
		{"something to wait for is needed", withTarget, "browser_wait_for", `{}`, `!at least one of time, text or textGone`},
		{"yes checks a box", withTarget, "browser_fill_form", field(`"type":"checkbox","value":"Yes"`),
			field(`"type":"checkbox","value":"true"`)},
		{"是 checks a box", withTarget, "browser_fill_form", field(`"type":"checkbox","value":"是"`),
			field(`"type":"checkbox","value":"true"`)},
		{"0 unchecks it", withTarget, "browser_fill_form", field(`"type":"checkbox","value":0`),
			field(`"type":"checkbox","value":"false"`)},
		{"what is neither is refused", withTarget, "browser_fill_form", field(`"type":"checkbox","value":"maybe"`),
			`!/fields/0/value: expected false or true`},
		{"yes in a text field stays", withTarget, "browser_fill_form", field(`"type":"textbox","value":"yes"`),
			field(`"type":"textbox","value":"yes"`)},
		{"a number in a text field is text, with its digits", withTarget, "browser_fill_form",
			field(`"type":"textbox","value":9007199254740993.0`), field(`"type":"textbox","value":"9007199254740993.0"`)},
		{"keys inside fields have aliases too", withTarget, "browser_fill_form",
			`{"fields":[{"ref":"e1","name":"n","type":"textbox","text":"x"}]}`,
			`{"fields":[{"target":"e1","name":"n","type":"textbox","value":"x"}]}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			res, err := knownTool(t, c.list, c.tool, nil).Fit(t.Context(), []byte(c.args))
			if part, refused := strings.CutPrefix(c.want, "!"); refused {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("got %s, %v; want a refusal with %q", res.Args, err, part)
				}
				return
			}
			if err != nil || string(res.Args) != c.want {
				t.Errorf("got  %s, %v\nwant %s", res.Args, err, c.want)
			}
		})
	}
}

func TestLightDropsWhatTheToolDoesNotHaveButNotWhatCarriesTheCall(t *testing.T) {
	tool := knownTool(t, withTarget, "browser_wait_for", &Options{Validation: Light})
	res, err := tool.Fit(t.Context(), []byte(`{"time":1,"note":"x"}`))
	if err != nil || string(res.Args) != `{"time":1}` || !slices.Contains(res.Repairs, Repair{"/note", Drop, `"x"`, ""}) {
		t.Errorf("got %s, %v, %v", res.Args, res.Repairs, err)
	}
	tool = knownTool(t, withRef, "browser_click", &Options{Validation: Light})
	if res, err := tool.Fit(t.Context(), []byte(`{"ref":"e1","selector":"#other"}`)); err == nil {
		t.Errorf("the selector is gone: %s", res.Args)
	}
}

func TestToolsOfOtherVersionsAreFound(t *testing.T) {
	older := Recognize(Builtin(), []string{"browser_click", "browser_snapshot", "browser_tab_list", "browser_tab_new",
		"browser_tab_select", "browser_tab_close"})
	newer := Recognize(Builtin(), []string{"browser_click", "browser_snapshot", "browser_tabs"})
	cases := []struct {
		name             string
		server           *Server
		tool, args       string
		wantTool, wanted string
	}{
		{"one tool was several", older, "browser_tabs", `{"action":"select","index":1}`, "browser_tab_select", `{"index":1}`},
		{"several became one", newer, "browser_tab_new", `{"url":"http://127.0.0.1"}`, "browser_tabs",
			`{"url":"http://127.0.0.1","action":"new"}`},
		{"without arguments", newer, "browser_tab_list", ``, "browser_tabs", `{"action":"list"}`},
		{"a client's prefix", newer, "mcp_playwright_browser_click", `{"ref":"e1"}`, "browser_click", `{"ref":"e1"}`},
		{"a prefix and another version", newer, "mcp_playwright_browser_tab_list", `{}`, "browser_tabs", `{"action":"list"}`},
		{"a tool that is there stays", newer, "browser_tabs", `{"action":"list"}`, "browser_tabs", `{"action":"list"}`},
		{"a tool that nobody knows stays", newer, "browser_run_code", `{}`, "browser_run_code", `{}`},
		{"an action that nobody knows stays", older, "browser_tabs", `{"action":"burn"}`, "browser_tabs", `{"action":"burn"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tool, args, _ := c.server.Route(c.tool, json.RawMessage(c.args))
			if tool != c.wantTool || string(args) != c.wanted {
				t.Errorf("got %s %s, want %s %s", tool, args, c.wantTool, c.wanted)
			}
		})
	}
	if s := Recognize(Builtin(), []string{"read_file", "browser_click"}); s != nil || s.Tool("x") != nil || s.Name() != "" {
		t.Error("a server with one such tool is taken for another")
	}
}

func TestAKnownServerIsToldByTheCommandThatStartsIt(t *testing.T) {
	known := &Known{Name: "x", Tools: []string{"a"}, Command: []string{"paint", "mcp"}}
	server := Recognize([]*Known{known}, []string{"a"})
	for line, want := range map[string]bool{
		"npx -y @Paint/mcp@1 --fast": true, "node /srv/paint-mcp/cli.js": true, "npx paint": false, "npx mcp": false, "": false,
	} {
		words := append(strings.Fields(line), "")
		if server.StartedBy(words[0], words[1:]) != want {
			t.Errorf("%q: want %v", line, want)
		}
	}
	known.Command = nil
	if server.StartedBy("npx", []string{"paint-mcp"}) {
		t.Error("a server of which no command is known is told by one")
	}
}

func TestParseKnownSaysWhatIsWrong(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"no JSON", `{`, "read known server"},
		{"a word that does not exist", `{"name":"x","tools":["a"],"alias":1}`, `unknown field "alias"`},
		{"no name", `{"tools":["a"]}`, "name is missing"},
		{"nothing to recognize it by", `{"name":"x"}`, "tools is empty"},
		{"more than there are", `{"name":"x","tools":["a"],"atLeast":2}`, "atLeast is 2"},
		{"a rule for no tool", `{"name":"x","tools":["a"],"rules":[{}]}`, "rules[0].tool is missing"},
		{"an alias to nowhere", `{"name":"x","tools":["a"],"rules":[{"tool":"*","aliases":[{"from":["b"]}]}]}`, "rules[0].aliases[0]"},
		{"no expression", `{"name":"x","tools":["a"],"rules":[{"tool":"*","aliases":[{"from":["b"],"to":"c","match":"("}]}]}`,
			"aliases[0].match"},
		{"a unit of nothing", `{"name":"x","tools":["a"],"rules":[{"tool":"*","units":[{"from":["b"],"to":"c","times":0}]}]}`, "units[0]"},
		{"a schema that is none", `{"name":"x","tools":["a"],"schemas":{"a":5}}`, "schemas.a"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := ParseKnown([]byte(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestAnEmptySchemaIsTheOneItShouldHaveBeen(t *testing.T) {
	list := map[string]json.RawMessage{"browser_click": json.RawMessage(`{"$schema":"http://json-schema.org/draft-07/schema#"}`),
		"browser_snapshot": json.RawMessage(`{}`)}
	tool := knownTool(t, list, "browser_click", nil)
	if !strings.Contains(string(tool.Schema()), `"ref"`) {
		t.Errorf("the schema is %s", tool.Schema())
	}
	var no *Error
	if _, err := tool.Fit(t.Context(), []byte(`{"element":"x"}`)); !errors.As(err, &no) || no.Problems[0].Field != "/ref" {
		t.Errorf("got %v", err)
	}
}
