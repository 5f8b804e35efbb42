package clients

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/shell"
)

// Gateway is what clients are connected to.
type Gateway struct {
	Base     string // its address, without /mcp
	Profile  string // "": that of the caller's key
	Variable string // environment variable that holds the key; "": none is needed, or the client signs in
	Key      string // its text, where it may be shown; "": only the variable is named
}

// URL is the address for MCP clients.
func (g Gateway) URL() string {
	if g.Profile == "" {
		return g.Base + "/mcp"
	}
	return g.Base + "/mcp/" + url.PathEscape(g.Profile)
}

// Kind is where a client is used.
type Kind string

// The kinds, in the order of Guides.
const (
	App     Kind = "app"     // on somebody's machine
	Service Kind = "service" // for many people, in a browser
	Code    Kind = "code"    // what programs use
)

// Guide is how a client is connected.
type Guide struct {
	Name, Title string
	Kind        Kind
	Link        string   // opens the client, which then asks whether to add the gateway; "": it has none
	Steps       []Step   // one of them is enough, the easiest first
	Names       []string // what the client calls itself, in lower case
}

// Step is something to run, or to put somewhere.
type Step struct {
	Where string // a file, or a menu in the client's words; "": a terminal
	Text  string
}

// posix is where a command is run that PowerShell reads otherwise.
const posix = "bash, zsh"

// Is reports whether this is how the client calls itself.
func (g Guide) Is(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(g.Names, func(n string) bool { return name == n || len(n) > 3 && strings.HasPrefix(name, n) })
}

// Guides are all clients, for one gateway.
func Guides(g Gateway) []Guide {
	all := []Guide{
		{Name: "claude-code", Kind: App, Names: []string{"claude-code"}, Steps: []Step{
			{Text: "claude mcp add --transport http " + Own + " " + shell.Word(g.URL()) + g.flag("--header", "${"+g.Variable+"}")},
			g.file("claude-code", ".mcp.json"),
		}},
		{Name: "claude-desktop", Kind: App, Names: []string{"claude-ai", "claude-desktop"}, Steps: g.desktop()},
		{Name: "cursor", Kind: App, Names: []string{"cursor"}, Link: g.cursorLink(), Steps: []Step{g.file("cursor", "~/.cursor/mcp.json")}},
		{Name: "vscode", Kind: App, Names: []string{"visual studio code", "vscode"}, Link: "vscode:mcp/install?" + escape(g.vscode()), Steps: []Step{
			{Where: posix, Text: "code --add-mcp " + shell.Word(g.vscode())},
			g.file("vscode", ".vscode/mcp.json"),
		}},
		{Name: "windsurf", Kind: App, Names: []string{"windsurf"}, Steps: []Step{
			g.file("windsurf", "~/.codeium/windsurf/mcp_config.json"),
		}},
		{Name: "zed", Kind: App, Names: []string{"zed"}, Steps: []Step{g.file("zed", "zed: open settings file")}},
		{Name: "codex", Kind: App, Names: []string{"codex"}, Steps: []Step{
			g.codex(),
			g.file("codex", "~/.codex/config.toml"),
		}},
		{Name: "gemini-cli", Kind: App, Names: []string{"gemini-cli"}, Steps: []Step{
			{Text: "gemini mcp add --transport http " + Own + " " + shell.Word(g.URL()) + g.flag("--header", "${"+g.Variable+"}")},
			g.file("gemini-cli", "~/.gemini/settings.json"),
		}},
		{Name: "goose", Title: "Goose", Kind: App, Names: []string{"goose"}, Link: g.gooseLink(), Steps: []Step{
			{Where: "~/.config/goose/config.yaml", Text: g.goose()},
		}},
		{Name: "lmstudio", Title: "LM Studio", Kind: App, Names: []string{"lmstudio", "lm studio"}, Link: g.lmStudioLink(), Steps: []Step{
			{Where: "~/.lmstudio/mcp.json", Text: Client{Key: "mcpServers"}.file(g.lmStudio())},
		}},
		{Name: "cline", Kind: App, Names: []string{"cline"}, Steps: []Step{
			g.file("cline", "MCP Servers › Configure › cline_mcp_settings.json"),
		}},
		{Name: "roo", Title: "Roo Code", Kind: App, Names: []string{"roo code", "roo-code"}, Steps: []Step{
			{Where: ".roo/mcp.json", Text: g.json("mcpServers", "streamable-http", "${env:VAR}")},
		}},
		{Name: "opencode", Title: "opencode", Kind: App, Names: []string{"opencode"}, Steps: []Step{
			{Where: "opencode.json", Text: g.json("mcp", "remote", "{env:VAR}")},
		}},
		{Name: "jetbrains", Title: "JetBrains AI Assistant", Kind: App, Names: []string{"jetbrains"}, Steps: []Step{
			{Where: "Settings › Tools › AI Assistant › Model Context Protocol (MCP) › Add", Text: g.bridge("mcpServers")},
		}},
		{Name: "librechat", Title: "LibreChat", Kind: Service, Names: []string{"librechat", "@librechat"}, Steps: []Step{
			{Where: "librechat.yaml", Text: g.librechat()},
		}},
		{Name: "open-webui", Title: "Open WebUI", Kind: Service, Names: []string{"open-webui", "open webui"}, Steps: []Step{
			{Where: "Admin Settings › External Tools › +", Text: g.openWebUI()},
		}},
	}
	for i := range all {
		for _, c := range WithFiles() {
			if c.Name == all[i].Name {
				all[i].Title = c.Title
			}
		}
	}
	return append(all, g.programs()...)
}

// secret is the key as a client finds it: its text, or the variable in the client's form; without such a form a gap to fill.
func (g Gateway) secret(form string) string {
	switch {
	case g.Key != "":
		return g.Key
	case form == "":
		return "<" + g.Variable + ">"
	}
	return strings.ReplaceAll(form, "VAR", g.Variable)
}

// flag is an option with the header; "" where none is needed.
func (g Gateway) flag(name, form string) string {
	if g.Variable == "" {
		return ""
	}
	return " " + name + " " + shell.Word("Authorization: Bearer "+g.secret(form))
}

// codex takes nothing but the name of the variable.
func (g Gateway) codex() Step {
	add := Step{Text: "codex mcp add " + Own + " --url " + shell.Word(g.URL())}
	if g.Variable != "" {
		add.Text += " --bearer-token-env-var " + g.Variable
	}
	if g.Key != "" {
		add = Step{Where: posix, Text: "export " + g.Variable + "=" + shell.Word(g.Key) + "\n" + add.Text}
	}
	return add
}

// file is the file of a client whose files we can write.
func (g Gateway) file(name, where string) Step {
	for _, c := range WithFiles() {
		if c.Name != name {
			continue
		}
		key := g.Key
		if c.variable == "" && g.Variable != "" {
			key = g.secret("")
		}
		return Step{where, c.file(c.address(g.URL(), g.Variable, key))}
	}
	return Step{}
}

// json is a file with the type of the server, and the form of a variable.
func (g Gateway) json(key, kind, form string) string {
	c := Client{Key: key, url: "url", kind: kind, variable: form}
	return c.file(c.address(g.URL(), g.Variable, g.Key))
}

// bridge starts this program, which relays to the gateway, for clients that start commands.
func (g Gateway) bridge(key string) string {
	args := []string{"stdio", "--url", g.Base}
	if g.Profile != "" {
		args = append(args, "--profile", g.Profile)
	}
	entries := Client{}.Command(Own, args)
	if g.Variable != "" {
		entries = append(entries, Entry{"env", map[string]string{"TOOLFIT_KEY": g.secret("")}})
	}
	return Client{Key: key}.file(entries)
}

// desktop is Claude Desktop: its file takes commands, its settings take addresses to sign in at.
func (g Gateway) desktop() []Step {
	steps := []Step{{"Settings › Developer › Edit Config", g.bridge("mcpServers")}}
	if g.Variable == "" && strings.HasPrefix(g.Base, "https://") {
		steps = append([]Step{{"Settings › Connectors › Add custom connector", g.URL()}}, steps...)
	}
	return steps
}

func (g Gateway) cursorLink() string {
	c := Client{url: "url", variable: "${env:VAR}"}
	return "cursor://anysphere.cursor-deeplink/mcp/install?name=" + Own + "&config=" + inBase64(c.address(g.URL(), g.Variable, g.Key))
}

func (g Gateway) vscode() string {
	c := Client{url: "url", kind: "http", variable: "${env:VAR}"}
	return oneLine(append([]Entry{{"name", Own}}, c.address(g.URL(), g.Variable, g.Key)...))
}

// gooseLink is only for a gateway without keys: a link could not say that the key is in a variable.
func (g Gateway) gooseLink() string {
	if g.Variable != "" {
		return ""
	}
	q := url.Values{"url": {g.URL()}, "type": {"streamable_http"}, "id": {Own}, "name": {Own}, "description": {"Tools"}}
	return "goose://extension?" + strings.ReplaceAll(q.Encode(), "+", "%20")
}

// lmStudio takes a key's text alone.
func (g Gateway) lmStudio() []Entry {
	return Client{url: "url"}.address(g.URL(), g.Variable, g.secret(""))
}

// lmStudioLink is only for a gateway without keys, or with the text of one.
func (g Gateway) lmStudioLink() string {
	if g.Variable != "" && g.Key == "" {
		return ""
	}
	return "lmstudio://add_mcp?name=" + Own + "&config=" + inBase64(g.lmStudio())
}

func (g Gateway) goose() string {
	lines := []string{"extensions:", "  " + Own + ":", "    name: " + Own, "    type: streamable_http", "    enabled: true", "    timeout: 300", "    uri: " + yaml(g.URL())}
	if g.Variable != "" && g.Key == "" {
		lines = append(lines, "    env_keys: ["+g.Variable+"]")
	}
	if g.Variable != "" {
		lines = append(lines, "    headers:", "      Authorization: "+yaml("Bearer "+g.secret("${VAR}")))
	}
	return strings.Join(lines, "\n") + "\n"
}

func (g Gateway) librechat() string {
	lines := []string{"mcpServers:", "  " + Own + ":", "    type: streamable-http", "    url: " + yaml(g.URL())}
	if g.Variable != "" {
		lines = append(lines, "    headers:", "      Authorization: "+yaml("Bearer "+g.secret("${VAR}")))
	}
	return strings.Join(lines, "\n") + "\n"
}

func (g Gateway) openWebUI() string {
	lines := []string{"Type: MCP (Streamable HTTP)", "URL: " + g.URL()}
	if g.Variable != "" {
		lines = append(lines, "Auth: Bearer", "Key: "+g.secret(""))
	}
	return strings.Join(lines, "\n") + "\n"
}

// inBase64 is a server in a query.
func inBase64(entries []Entry) string {
	return escape(base64.StdEncoding.EncodeToString([]byte(oneLine(entries))))
}

// escape escapes text for a query; not every client reads + as a space.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// yaml quotes text; YAML reads what JSON writes.
func yaml(s string) string { return doctree.QuoteJSON(s) }

// oneLine is a server as JSON on one line.
func oneLine(entries []Entry) string {
	text, _ := Node(entries).MarshalJSON() // texts always encode
	return string(text)
}
