package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// reachTools are the tools of both servers that the property is about, by the servers' names.
var reachTools = []string{"hold", "look", "put", "measure"}

// reachProfile is a profile, and rules that are about it alone.
type reachProfile struct {
	name, yaml string
	rules      []string
}

// drawReach draws a profile that leaves out some tools, in one way or several.
func drawReach(name string) *rapid.Generator[reachProfile] {
	return rapid.Custom(func(t *rapid.T) reachProfile {
		p := reachProfile{name: name}
		glob := rapid.SampledFrom([]string{ // none is about our own tools
			"legacy__*", "modern__*", "*__hold", "*__look", "*__put", "*__measure", "legacy__hold", "modern__put", "*__*o*", "nothing__*",
		})
		quoted := func(globs []string) string {
			out, _ := json.Marshal(globs) // strings
			return string(out)
		}
		keys := []string{"code: on"}
		if servers := rapid.SampledFrom([]string{"", "", "legacy", "modern", "legacy, modern"}).Draw(t, "servers"); servers != "" {
			keys = append(keys, "servers: ["+servers+"]")
		}
		var tools []string
		if allow := rapid.SliceOfN(glob, 0, 3).Draw(t, "allow"); len(allow) > 0 {
			tools = append(tools, "allow: "+quoted(allow))
		}
		if deny := rapid.SliceOfN(glob, 0, 2).Draw(t, "deny"); len(deny) > 0 {
			tools = append(tools, "deny: "+quoted(deny))
		}
		if len(tools) > 0 {
			keys = append(keys, "tools: {"+strings.Join(tools, ", ")+"}")
		}
		keys = append(keys, "names: "+rapid.SampledFrom([]string{"prefixed", "bare"}).Draw(t, "names"))
		keys = append(keys, "search: "+rapid.SampledFrom([]string{"on", "off"}).Draw(t, "search"))
		keys = append(keys, "default: "+rapid.SampledFrom([]string{"allow", "allow", "deny"}).Draw(t, "default"))
		p.yaml = "  " + name + ": {" + strings.Join(keys, ", ") + "}"
		for i := range rapid.IntRange(0, 2).Draw(t, "rules") {
			about := quoted(rapid.SliceOfN(glob, 1, 2).Draw(t, "tools of a rule"))
			rule := fmt.Sprintf("{name: %s-%d, profiles: [%s], tools: %s", name, i, name, about)
			if when := rapid.SampledFrom([]string{"", `args.n.endsWith("hold")`, "!tool.readOnly", "tool.destructive"}).Draw(t, "when"); when != "" {
				rule += ", when: '" + when + "'"
			}
			p.rules = append(p.rules, rule+", then: "+rapid.SampledFrom([]string{"deny", "allow", "approve"}).Draw(t, "then")+"}")
		}
		return p
	})
}

// reaching tries each tool in each way. It returns which calls were made, and what search and describe show.
const reaching = `const made = [], said = [], ways = [];
	for (const server of ["legacy", "modern"]) for (const tool of input.tools) {
		const n = way => input.n + " script " + way + " " + server + "__" + tool;
		for (const [way, call] of [
			["global", () => globalThis[server][tool]({ n: n("global"), ms: 1 })],
			["raw", () => globalThis[server][tool].raw({ n: n("raw"), ms: 1 })],
			["shown", () => tools[server + "__" + tool]({ n: n("shown"), ms: 1 })],
			["bare", () => tools[tool]({ n: n("bare"), ms: 1 })],
			["call_tool", () => tools.call_tool({ name: server + "__" + tool, arguments: { n: n("call_tool"), ms: 1 } })],
			["other", () => globalThis[server === "legacy" ? "modern" : "legacy"][server + "__" + tool]({ n: n("other"), ms: 1 })],
		]) ways.push([way, server + "__" + tool, call]);
	}
	for (const [way, name, call] of ways) {
		try { await call(); made.push(way + " " + name) } catch (e) { said.push(e.code ?? e.name) }
	}
	for (const [own, args] of [["run_script", { code: "return 1" }], ["fetch_result", { ref: "r_x" }], ["find_tools", { query: "x" }]]) {
		try { await tools[own](args); made.push("own") } catch {}
	}
	const described = [];
	for (const name of input.names) { try { await describe(name); described.push(name) } catch {} }
	let found = [];
	for (const q of ["hold", "look put measure", "call"]) { try { found.push(...(await search(q, 50)).tools.map(t => t.name)) } catch {} }
	return { made, described, found }`

// TestWhatIsNotCallableIsNotReachableFromScripts: with profiles and policies drawn at random, scripts reach exactly what their caller
// can call, by whatever name, and see no tool that the caller does not. Without -long there are fewer profiles.
func TestWhatIsNotCallableIsNotReachableFromScripts(t *testing.T) {
	many := 12
	if *longCalls {
		many = 200
	}
	var profiles []reachProfile
	var yaml, rules strings.Builder
	for i := range many {
		p := drawReach(fmt.Sprintf("p%d", i)).Example(i)
		profiles = append(profiles, p)
		yaml.WriteString(p.yaml + "\n")
		for _, rule := range p.rules {
			rules.WriteString("  - " + rule + "\n")
		}
	}
	more := "profiles:\n  default: {code: on}\n" + yaml.String()
	if rules.Len() > 0 {
		more += "policy:\n" + rules.String()
	}
	w := newScriptWorld(t, "", more)
	r := w.gateway(t)
	reached := 0
	for _, p := range profiles {
		t.Run(p.name, func(t *testing.T) { reached += checkReach(t, w, r.url, p) })
	}
	if reached < many {
		t.Errorf("only %d calls were made: this tests nothing", reached)
	}
}

// checkReach compares what a client and its scripts reach in a profile, and returns how many calls the scripts made.
func checkReach(t *testing.T, w *scriptWorld, url string, p reachProfile) (reached int) {
	t.Helper()
	c, err := dialRaw(url+"/mcp/"+p.name, "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string // that a caller could try
	callable := map[string]bool{}
	described := map[string]bool{}
	for _, server := range []string{"legacy", "modern"} {
		for _, tool := range reachTools {
			for _, name := range []string{server + "__" + tool, tool} {
				names = append(names, name)
				said := fmt.Sprintf("%s direct %s %s__%s", p.name, name, server, tool)
				c.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"n":%q,"ms":1}}`, name, said))
				callable[name] = callable[name] || w.saw(tool+" "+said) > 0
				about, err := c.request("tools/call", fmt.Sprintf(`{"name":"describe_tool","arguments":{"name":%q}}`, name))
				described[name] = err == nil && !strings.Contains(about, `"isError":true`)
			}
		}
	}
	var got struct {
		StructuredContent struct{ Made, Described, Found []string }
	}
	result := runScript(c, reaching, map[string]any{"tools": reachTools, "names": names, "n": p.name})
	if err := json.Unmarshal([]byte(result), &got); err != nil ||
		!strings.Contains(result, `"structuredContent"`) && !strings.Contains(result, "approval_required") { // which ends it before it is through
		t.Fatalf("%v: %s", err, result)
	}
	for _, made := range got.StructuredContent.Made {
		way, name, _ := strings.Cut(made, " ")
		_, tool, _ := strings.Cut(name, "__")
		if !callable[name] && !callable[tool] || way == "own" || way == "call_tool" || way == "other" {
			t.Errorf("%s is reached by %s\n%s %v", name, way, p.yaml, p.rules)
		}
	}
	for _, server := range []string{"legacy", "modern"} {
		for _, tool := range reachTools {
			for _, way := range []string{"global", "raw", "shown", "bare", "call_tool", "other"} {
				times := w.saw(fmt.Sprintf("%s %s script %s %s__%s", tool, p.name, way, server, tool))
				reached += times
				if times > 0 && !callable[server+"__"+tool] && !callable[tool] {
					t.Errorf("%s__%s came to its server by %s\n%s %v", server, tool, way, p.yaml, p.rules)
				}
			}
		}
	}
	for _, name := range got.StructuredContent.Described {
		if !described[name] {
			t.Errorf("%s is described to scripts only\n%s %v", name, p.yaml, p.rules)
		}
	}
	var found strings.Builder
	for _, query := range []string{"hold", "look put measure", "call"} {
		result, err := c.request("tools/call", fmt.Sprintf(`{"name":"find_tools","arguments":{"query":%q,"limit":50}}`, query))
		if err != nil {
			t.Fatal(err)
		}
		found.WriteString(result)
	}
	for _, name := range got.StructuredContent.Found {
		if !strings.Contains(found.String(), name) {
			t.Errorf("%s is found by scripts only\n%s %v", name, p.yaml, p.rules)
		}
	}
	return reached
}
