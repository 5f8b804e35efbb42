package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/toolfit/toolfit/internal/base/regular"
)

// maxSecretFile is the most that ${file:PATH} reads; keys and certificates are far smaller.
const maxSecretFile = 1 << 20

// MinSecret is the length from which a value is redacted. Shorter ones occur everywhere.
const MinSecret = 4

// absent is the error for a reference that is right but leads to nothing on this machine.
type absent string

func (a absent) Error() string { return string(a) }

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// filled replaces each ${…} of s, but not in what it fills in. "$${" stands for "${".
func (d *decoder) filled(s string) (string, error) {
	var out strings.Builder
	for {
		at := strings.Index(s, "${")
		if at < 0 {
			out.WriteString(s)
			return out.String(), nil
		}
		if at > 0 && s[at-1] == '$' {
			out.WriteString(s[:at-1] + "${")
			s = s[at+2:]
			continue
		}
		inside, rest, closed := strings.Cut(s[at+2:], "}")
		if !closed {
			return "", errors.New(`has "${" without "}"; write "$${" for the text itself`)
		}
		value, err := d.lookup(inside)
		if err != nil {
			return "", err
		}
		out.WriteString(s[:at] + value)
		s = rest
	}
}

// lookup returns the value of the text between ${ and }.
func (d *decoder) lookup(name string) (string, error) {
	if path, ok := strings.CutPrefix(name, "file:"); ok {
		return d.secretFile(path)
	}
	if strings.HasPrefix(name, "input:") {
		return "", fmt.Errorf("${%s} is a question that VS Code asks; write ${%s} and set that environment variable", name, InputVariable(name))
	}
	if strings.HasPrefix(name, "user:") {
		return d.userValue("${" + name + "}")
	}
	if d.client {
		name = strings.TrimPrefix(name, "env:")
	}
	name, fallback, hasFallback := strings.Cut(name, ":-")
	if !variable.MatchString(name) {
		return "", fmt.Errorf(`%q is not a variable's name; write ${VAR} or ${file:PATH}, or "$${" for the text itself`, name)
	}
	value, set := d.env(name)
	if !set && hasFallback {
		return fallback, nil
	}
	if !set {
		return "", absent(fmt.Sprintf("environment variable %s is not set; set it, or write the value here", name))
	}
	d.secret(value)
	return value, nil
}

// userValue leaves a reference to a person's own value as it is, where it may stand.
func (d *decoder) userValue(reference string) (string, error) {
	switch {
	case !d.users:
		return "", fmt.Errorf("%s is each person's own value, which only headers of servers and APIs can have", reference)
	case UserValues(reference) == nil:
		return "", fmt.Errorf("%s does not name a value; write letters, digits, dots, hyphens and underscores, such as ${user:jira_token}",
			reference)
	}
	return reference, nil
}

// secretFile reads ${file:PATH}.
func (d *decoder) secretFile(path string) (string, error) {
	data, err := regular.Read(joined(d.dir, path), maxSecretFile)
	if err != nil {
		return "", absent(fmt.Sprintf("file %q: %s; check the path, which starts at this file's folder", path, reason(err)))
	}
	if len(data) > maxSecretFile {
		return "", fmt.Errorf("file %q is larger than 1 MB", path)
	}
	value := strings.TrimRight(string(data), "\r\n")
	d.secret(value)
	return value, nil
}

// reason returns an error without the path, which is in the message already.
func reason(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// joined returns path, relative to dir.
func joined(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// InputVariable returns a variable's name for VS Code's input:github-token.
func InputVariable(name string) string {
	upper := strings.ToUpper(strings.TrimPrefix(name, "input:"))
	clean := strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, upper)
	if !variable.MatchString(clean) {
		return "VALUE_" + clean
	}
	return clean
}
