package clientfile

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Pasted is a server that somebody has pasted, with what was left out or changed of it.
type Pasted struct {
	config.Server // values as they are, with ${} not filled in
	Notes         []string
}

// ReadPasted reads the servers in a text, whatever form they have: the JSON, YAML or TOML of a
// client, whole or in part; command lines, also those that add a server to a client; addresses of
// servers, of descriptions of HTTP APIs, and links that install a server; such a description
// itself. The notes are about what could not be read beside them.
func ReadPasted(text string) (servers []Pasted, notes []string, err error) {
	p := &paste{importer: importer{path: "pasted", taken: map[string]bool{}}}
	if err := p.read(unfenced(text)); err != nil {
		return nil, nil, err
	}
	switch {
	case p.full():
		return nil, nil, fault.New(fault.TooLarge, "there are more than %d servers in this text", maxPasted).WithHint("paste fewer of them at once")
	case len(p.servers) == 0 && len(p.rest) > 0:
		return nil, nil, fault.New(fault.BadRequest, "%s", strings.Join(p.rest, "\n"))
	case len(p.servers) == 0:
		return nil, nil, fault.New(fault.BadRequest, "there is no server in this text").
			WithHint("paste a client's configuration, a command, an address, or the description of an API")
	}
	return p.servers, p.rest, nil
}

type paste struct {
	importer
	servers []Pasted
	rest    []string          // notes about what is no server
	env     map[string]string // variables that lines before a command have set
}

// maxPasted is how many servers a text may have: each is checked, and shown on one page.
const maxPasted = 100

// full tells whether there is more in the text than is looked at.
func (p *paste) full() bool { return len(p.servers)+len(p.rest) > maxPasted }

var fence = regexp.MustCompile("(?sm)^```[\\w-]*\n(.*?)^```$")

// unfenced is a text without byte order mark, or the first block of code in it.
func unfenced(text string) string {
	text = strings.TrimSpace(strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff"))
	if m := fence.FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[1])
	}
	return text
}

// straight replaces the quotes and blanks that word processors and chats make of those of keyboards.
var straight = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "‘", "'", "’", "'", "\u00a0", " ")

var (
	inYAML = regexp.MustCompile(`(?m)^(mcpServers|servers|context_servers|extensions|openapi|swagger|apis)['"]?:(\s|$)|\A['"]?[\w.-]+['"]?:[ \t]*$`)
	inTOML = regexp.MustCompile(`(?m)^\s*\[mcp_servers[.\]]`)
)

func (p *paste) read(text string) error {
	switch {
	case text == "":
		return nil
	case inTOML.MatchString(text): // before JSON, which begins with a bracket, too
		src, found := parseCodex([]byte(text))
		return p.tree(src, found, text)
	case strings.IndexByte(`{["`, text[0]) >= 0, strings.HasPrefix(text, "//"), strings.HasPrefix(text, "/*"), strings.HasPrefix(text, "“"):
		return p.readJSON(text)
	case inYAML.MatchString(text):
		src, found := doctree.ParseYAML([]byte(text))
		return p.tree(src, found, text)
	}
	return p.lines(text)
}

// readJSON reads JSON. A part out of an object lacks its braces, and may end in a comma.
func (p *paste) readJSON(text string) error {
	inBraces := func(text string) string { return "{" + strings.TrimRight(text, ", \n\t\r") + "\n}" }
	typed := straight.Replace(text)
	for _, form := range []string{text, inBraces(text), typed, inBraces(typed)} {
		if src, found := doctree.ParseJSON([]byte(form)); len(found) == 0 && src.Root.Kind != doctree.Text {
			return p.tree(src, nil, form)
		}
	}
	if strings.IndexByte("{[/", text[0]) < 0 && !strings.Contains(text, "\n") { // a program in quotes
		return p.lines(text)
	}
	src, found := doctree.ParseJSON([]byte(text))
	return p.tree(src, found, text)
}

func (p *paste) tree(src *doctree.Source, found doctree.Problems, text string) error {
	if len(found) > 0 {
		return found.Err(p.path)
	}
	root := src.Root
	if root.Kind == doctree.List {
		p.list(root)
		return nil
	}
	if root.Find("openapi") != nil || root.Find("swagger") != nil {
		p.description(root, text)
		return nil
	}
	src.JSON = true // whatever the format, the keys are a client's
	if extensions := root.Find("extensions"); extensions != nil && extensions.Kind == doctree.Mapping {
		root = extensions // of Goose
	}
	if mcp := root.Find("mcp"); mcp != nil && mcp.Kind == doctree.Mapping {
		root = mcp // of opencode; VS Code's settings have their servers below it
	}
	at, servers := config.Servers(src)
	switch {
	case servers != nil && servers.Kind == doctree.Mapping:
		for _, e := range servers.Entries {
			p.server(at, e)
		}
	case root.Find("mcpServers") != nil && root.Find("mcpServers").Kind == doctree.List: // of Continue
		p.list(root.Find("mcpServers"))
	case isServer(root):
		p.one("", root)
	default:
		for _, e := range root.Entries {
			if isServer(e.Value) {
				p.server(doctree.Place{Line: root.Line}, e)
			}
		}
	}
	return nil
}

func (p *paste) list(n *doctree.Node) {
	for _, item := range n.Items {
		if p.full() {
			return
		}
		p.one("", item)
	}
}

// isServer tells whether an object describes one server.
func isServer(n *doctree.Node) bool {
	return n.Kind == doctree.Mapping && slices.ContainsFunc([]string{"command", "url", "serverUrl", "httpUrl", "builtin", "cmd", "uri"},
		func(key string) bool { return n.Find(key) != nil })
}

// goose are the keys of Goose that others call otherwise; "" are those that say nothing here.
var goose = map[string]string{"cmd": "command", "uri": "url", "envs": "env", "name": "", "enabled": "", "bundled": "", "description": ""}

// fromGoose is a server of Goose with the keys of other clients; others stay as they are.
func fromGoose(n *doctree.Node) *doctree.Node {
	if n.Find("cmd") == nil && n.Find("uri") == nil {
		return n
	}
	out := *n
	out.Entries = nil
	for _, e := range n.Entries {
		if key, known := goose[e.Key]; known {
			e.Key = key
		}
		if e.Key != "" {
			out.Entries = append(out.Entries, e)
		}
	}
	return &out
}

var opencodeVariable = regexp.MustCompile(`\{env:(\w+)\}`)

// fromOpencode is a server of opencode, whose command is a list, with the keys of other clients.
func fromOpencode(n *doctree.Node) *doctree.Node {
	kind := n.Find("type")
	if kind == nil || kind.Text != "local" && kind.Text != "remote" {
		return n
	}
	out := *n
	out.Entries = nil
	for _, e := range n.Entries {
		e.Value = withVariables(e.Value)
		switch {
		case e.Key == "type", e.Key == "enabled":
			continue
		case e.Key == "environment":
			e.Key = "env"
		case e.Key == "command" && e.Value.Kind == doctree.List && len(e.Value.Items) > 0:
			args := *e.Value
			e.Value, args.Items = args.Items[0], args.Items[1:]
			out.Entries = append(out.Entries, doctree.Entry{Key: "args", Line: e.Line, Value: &args})
		}
		out.Entries = append(out.Entries, e)
	}
	return &out
}

// withVariables is a tree with opencode's variables in our form.
func withVariables(n *doctree.Node) *doctree.Node {
	out := *n
	out.Text = opencodeVariable.ReplaceAllString(n.Text, "$${$1}")
	out.Items = slices.Clone(n.Items)
	for i, item := range out.Items {
		out.Items[i] = withVariables(item)
	}
	out.Entries = slices.Clone(n.Entries)
	for i, e := range out.Entries {
		out.Entries[i].Value = withVariables(e.Value)
	}
	return &out
}

// one takes a server that has its name, if any, among its keys.
func (p *paste) one(name string, n *doctree.Node) {
	if !isServer(n) {
		p.rest = append(p.rest, "an object without command or url was left out")
		return
	}
	out := *n
	out.Entries = nil
	for _, e := range n.Entries {
		if e.Key == "name" && e.Value.Kind == doctree.Text {
			name = cmp.Or(name, e.Value.Text)
			continue
		}
		out.Entries = append(out.Entries, e)
	}
	p.server(doctree.Place{Line: n.Line}, doctree.Entry{Key: name, Line: n.Line, Value: &out})
}

// server takes a server of a client's file.
func (p *paste) server(at doctree.Place, e doctree.Entry) {
	if p.full() {
		return
	}
	e.Value = fromOpencode(fromGoose(e.Value))
	if e.Key == "" { // its name is in what it runs
		s, _, _ := config.ClientServer(at, e)
		e.Key = nameOf(s)
	}
	had, noted := len(p.Servers), len(p.Notes)
	p.add(at, e)
	notes := slices.Clone(p.Notes[noted:])
	if len(p.Servers) == had {
		p.rest = append(p.rest, notes...)
		return
	}
	p.servers = append(p.servers, Pasted{p.Servers[had], notes})
}

// take takes a server that is put together here.
func (p *paste) take(s config.Server, name string) {
	name = p.free(validName(cmp.Or(name, nameOf(s))))
	p.taken[name] = true
	s.ID = tool.ServerID(name)
	p.servers = append(p.servers, Pasted{Server: s})
}

// description takes a pasted description of an HTTP API.
func (p *paste) description(root *doctree.Node, text string) {
	name := "api"
	if title := root.Find("info", "title"); title != nil && title.Text != "" {
		name = strings.ToLower(strings.Join(config.Words(title.Text), "-"))
	}
	p.take(config.Server{API: &config.API{Spec: config.InlineSpec([]byte(text))}}, name)
}
