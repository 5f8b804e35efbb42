package clientfile

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/shell"
	"github.com/toolfit/toolfit/internal/state/config"
)

var (
	// joint is the end of a line that goes on, in the shells of Unix and of Windows.
	joint = regexp.MustCompile("(\\\\|[ \\t][`^])[ \\t]*\\n")
	// setting sets a variable, in each of them. Only what follows a semicolon or && is a command.
	setting = regexp.MustCompile(`^(?:export[ \t]|(?i:set)[ \t]|\$env:)[ \t]*([A-Za-z_]\w*)[ \t]*=[ \t]*("[^"]*"|'[^']*'|[^\s;&]*)[ \t]*(?:;|&&|$)`)
)

// lines reads one command line or address a line. Lines that set a variable set it for the commands after them.
func (p *paste) lines(text string) error {
	for line := range strings.Lines(joint.ReplaceAllString(text, " ")) {
		if !strings.ContainsAny(line, `"'`) {
			line = straight.Replace(line)
		}
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || p.full() {
			continue
		}
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(line, "$ "), "> "))
		for m := setting.FindStringSubmatch(line); m != nil; m = setting.FindStringSubmatch(line) {
			value, err := shell.Split(m[2])
			if err != nil {
				return err
			}
			if p.env == nil {
				p.env = map[string]string{}
			}
			p.env[m[1]] = strings.Join(value, "")
			line = strings.TrimSpace(line[len(m[0]):])
		}
		if err := p.line(line); err != nil {
			return err
		}
	}
	return nil
}

func (p *paste) line(line string) error {
	if bare := strings.Trim(line, `"'<>`); strings.Contains(bare, "://") && !strings.ContainsAny(bare, " \t") || strings.HasPrefix(bare, "vscode:") {
		return p.address(bare)
	}
	words, err := shell.Split(line)
	if err != nil || len(words) == 0 {
		return err
	}
	return p.command(words)
}

var isDescription = regexp.MustCompile(`(?i)(openapi|swagger|api-docs)|\.(json|ya?ml)$`)

// address takes the address of a server, of a description, or a link that installs a server.
func (p *paste) address(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return fault.New(fault.BadRequest, "this is not an address that can be read")
	}
	if inside := linked(u); inside != "" {
		src, found := doctree.ParseJSON([]byte(inside))
		if len(found) > 0 {
			return found.Err(p.path)
		}
		if src.Root.Kind == doctree.Mapping {
			p.one(u.Query().Get("name"), src.Root)
			return nil
		}
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fault.New(fault.BadRequest, "%q is not an http or https URL", text)
	}
	if isDescription.MatchString(u.Path) {
		p.take(config.Server{API: &config.API{Spec: text}}, "")
		return nil
	}
	p.take(config.Server{URL: text}, "")
	return nil
}

// linked is the configuration in a link that installs a server in Cursor or VS Code; "": there is none.
func linked(u *url.URL) string {
	if u.Scheme == "vscode" || u.Scheme == "vscode-insiders" {
		if text, err := url.QueryUnescape(u.RawQuery); err == nil && strings.HasPrefix(text, "{") {
			return text
		}
	}
	text := u.Query().Get("config")
	if strings.HasPrefix(text, "{") {
		return text
	}
	text = strings.ReplaceAll(text, " ", "+") // an unescaped plus
	for _, form := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding} {
		if data, err := form.DecodeString(text); err == nil && strings.HasPrefix(string(data), "{") {
			return string(data)
		}
	}
	return ""
}
