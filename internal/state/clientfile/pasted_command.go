package clientfile

import (
	"cmp"
	"maps"
	"net"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
)

var assignment = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)=(.*)`)

// command takes a command line: of the server itself, or one that adds it to a client.
func (p *paste) command(words []string) error {
	s := config.Server{Env: maps.Clone(p.env)}
	for len(words) > 0 && (words[0] == "env" || assignment.MatchString(words[0])) {
		setEnv(&s, words[0])
		words = words[1:]
	}
	if len(words) == 0 {
		return fault.New(fault.BadRequest, "there is no command, only variables").WithHint("paste the command, too")
	}
	if at := slices.Index(words, "--add-mcp"); at >= 0 && at+1 < len(words) {
		return p.readJSON(words[at+1])
	}
	if at := slices.Index(words, "mcp"); at > 0 && at+1 < len(words) && slices.Contains(adders, config.ProgramName(words[0])) {
		switch words[at+1] {
		case "add":
			return p.added(words[at+2:])
		case "add-json":
			return p.addedJSON(words[at+2:])
		}
	}
	if config.ProgramName(words[0]) == "toolfit" && len(words) > 1 && words[1] == "add" {
		return p.added(words[2:])
	}
	return p.target(s, "", words)
}

// adders are the clients that add a server by "CLIENT mcp add NAME …".
var adders = []string{"claude", "codex", "gemini", "qwen", "cursor", "cursor-agent", "code", "amp", "droid", "copilot", "kimi", "iflow"}

// target takes what a server is reached by: a command or an address.
func (p *paste) target(s config.Server, name string, words []string) error {
	if len(words) == 1 && strings.Contains(words[0], "://") {
		if u, err := url.Parse(words[0]); err != nil || u.Scheme != "http" && u.Scheme != "https" {
			return fault.New(fault.BadRequest, "%q is not an http or https URL", words[0])
		}
		s.URL = words[0]
		s.Env = nil
	} else {
		s.Command, s.Args = words[0], words[1:]
		s.Headers, s.Type = nil, ""
	}
	p.take(s, name)
	return nil
}

// flags of "mcp add" that have a value, by what the value is.
var addFlags = map[string]string{
	"-e": "env", "--env": "env", "-H": "header", "--header": "header", "-t": "type", "--transport": "type", "--type": "type",
	"--url": "url", "-s": "", "--scope": "", "--timeout": "", "--description": "", "--client-id": "", "--callback-port": "",
	"--bearer-token-env-var": "bearer", "--cwd": "cwd", "--include-tools": "", "--exclude-tools": "",
}

// added takes the arguments of "claude mcp add" and of others that are like it: flags, the name,
// then the server.
func (p *paste) added(words []string) error {
	s := config.Server{}
	name := ""
	var target []string
	isURL := func() bool { return len(target) == 1 && strings.Contains(target[0], "://") }
	for i := 0; i < len(words); i++ {
		w := words[i]
		flag, value, joined := strings.Cut(w, "=")
		what, known := addFlags[flag]
		switch {
		case w == "--":
			target = append(target, words[i+1:]...)
			i = len(words)
		case len(target) > 0 && !isURL():
			target = append(target, w) // the flags of the command itself
		case known && !joined && i+1 < len(words):
			i++
			value = words[i]
			fallthrough
		case known:
			p.flag(&s, what, value, &target)
		case strings.HasPrefix(w, "-"):
		case name == "":
			name = w
		case isURL(): // nothing that we know
		default:
			target = append(target, w)
		}
	}
	if len(target) == 0 {
		return fault.New(fault.BadRequest, "there is no command or address behind the name").WithHint("paste the whole command")
	}
	return p.target(s, name, target)
}

func (p *paste) flag(s *config.Server, what, value string, target *[]string) {
	switch what {
	case "env":
		setEnv(s, value)
	case "header":
		if key, text, ok := strings.Cut(value, ":"); ok {
			setHeader(s, strings.TrimSpace(key), strings.TrimSpace(text))
		}
	case "bearer":
		setHeader(s, "Authorization", "Bearer ${"+value+"}")
	case "type":
		if value == "sse" {
			s.Type = value
		}
	case "url":
		*target = []string{value}
	case "cwd":
		s.Cwd = value
	}
}

func setEnv(s *config.Server, pair string) {
	m := assignment.FindStringSubmatch(pair)
	if m == nil {
		return
	}
	if s.Env == nil {
		s.Env = map[string]string{}
	}
	s.Env[m[1]] = m[2]
}

func setHeader(s *config.Server, key, value string) {
	if s.Headers == nil {
		s.Headers = map[string]string{}
	}
	s.Headers[key] = value
}

// addedJSON takes "claude mcp add-json NAME JSON".
func (p *paste) addedJSON(words []string) error {
	var plain []string
	for i := 0; i < len(words); i++ {
		if _, known := addFlags[words[i]]; known {
			i++
		} else if !strings.HasPrefix(words[i], "-") {
			plain = append(plain, words[i])
		}
	}
	if len(plain) != 2 {
		return fault.New(fault.BadRequest, "there is no command or address behind the name").WithHint("paste the whole command")
	}
	before := len(p.servers)
	if err := p.readJSON(plain[1]); err != nil {
		return err
	}
	if len(p.servers) == before+1 {
		name := p.free(validName(plain[0]))
		p.taken[name] = true
		p.servers[before].ID = tool.ServerID(name)
	}
	return nil
}

var (
	runners  = []string{"npx", "bunx", "pnpm", "yarn", "uvx", "uv", "pipx", "node", "bun", "deno", "python", "python3", "docker", "podman", "java", "dotnet", "dnx", "go"}
	verbs    = []string{"run", "dlx", "exec", "x", "tool"}
	noWords  = []string{"mcp", "server", "modelcontextprotocol", "latest", "stdio", "main", "index", "dist", "build", "src"}
	hasTag   = regexp.MustCompile(`[@:=][^/]*$`)
	withFlag = map[string][]string{
		"docker": {"-e", "--env", "-v", "--volume", "--mount", "--name", "--network", "-p", "--env-file", "-w", "--workdir", "--user", "-u", "--platform"},
		"podman": {"-e", "--env", "-v", "--volume", "--mount", "--name", "--network", "-p", "--env-file", "-w", "--workdir", "--user", "-u", "--platform"},
		"npx":    {}, "uvx": {"--python", "--with", "-p"}, "uv": {"--directory", "--project", "--with", "--python"},
	}
)

// nameOf is a name for a server that has none: from its package, image, program or host.
func nameOf(s config.Server) string {
	address := s.URL
	if s.API != nil {
		address = cmp.Or(s.API.Base, s.API.Spec)
	}
	if address != "" {
		return hostName(address)
	}
	program := config.ProgramName(s.Command)
	if !slices.Contains(runners, program) {
		return shortName(program)
	}
	for i := 0; i < len(s.Args); i++ {
		arg := s.Args[i]
		switch {
		case (arg == "--from" || arg == "--package" || arg == "-m") && i+1 < len(s.Args):
			return shortName(s.Args[i+1])
		case slices.Contains(withFlag[program], arg):
			i++
		case strings.HasPrefix(arg, "-"), slices.Contains(verbs, arg):
		default:
			return shortName(arg)
		}
	}
	return program
}

// shortName is what tells a package from others: files for @scope/mcp-server-files@1.2.
func shortName(long string) string {
	if strings.HasPrefix(long, "git+") || strings.Contains(long, "://") {
		long = strings.TrimSuffix(long, ".git")
	}
	base := path.Base(strings.ReplaceAll(long, `\`, "/"))
	if !strings.HasPrefix(base, "@") {
		base = hasTag.ReplaceAllString(base, "")
	}
	base = strings.TrimSuffix(base, path.Ext(base))
	if name := meaning(config.Words(base)); name != "" {
		return name
	}
	if dir := path.Base(path.Dir(strings.ReplaceAll(long, `\`, "/"))); dir != "." && dir != "/" { // /srv/weather/index.js, @scope/mcp
		if name := meaning(config.Words(dir)); name != "" {
			return name
		}
	}
	return base
}

// meaning joins the words that say something.
func meaning(words []string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return slices.Contains(noWords, w) }), "-")
}

// hostName is what tells a host from others: linear for mcp.linear.app.
func hostName(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return shortName(address)
	}
	host := strings.ToLower(u.Hostname())
	labels := strings.Split(host, ".")
	if net.ParseIP(host) != nil || len(labels) == 1 {
		return strings.ReplaceAll(host, ":", "-")
	}
	labels = slices.DeleteFunc(labels[:len(labels)-1], func(l string) bool {
		return slices.Contains([]string{"mcp", "www", "api", "app", "server", "co", "com"}, l)
	})
	if len(labels) == 0 {
		return strings.Split(host, ".")[0]
	}
	return labels[len(labels)-1]
}
