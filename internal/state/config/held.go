package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/toolfit/toolfit/internal/base/doctree"
)

// InlineSecret is a secret that is written in a server's settings.
type InlineSecret struct {
	Server string
	Field  string // such as env.GITHUB_TOKEN, headers.Authorization, args[2], url
	Name   string // such as GITHUB_TOKEN, Authorization, api-key
	Value  string // without a prefix such as "Bearer "
	Env    bool   // it is in the server's env
}

// InlineSecrets returns the values in the server's settings that look like secrets, without those
// of ${}.
func (s *Server) InlineSecrets() (all []InlineSecret) {
	s.ReplaceSecrets(func(h InlineSecret) string {
		all = append(all, h)
		return ""
	})
	return all
}

// ReplaceSecrets returns the server with a reference for each secret. With "" a secret stays.
func (s *Server) ReplaceSecrets(to func(InlineSecret) string) Server {
	out := *s
	in := func(field, name, text string, env bool) string {
		for _, part := range slices.Backward(secretParts(name, text)) {
			value := text[part.from:part.to]
			ref := to(InlineSecret{string(s.ID), field, part.name, strings.ReplaceAll(value, "$${", "${"), env})
			if ref != "" {
				text = text[:part.from] + ref + text[part.to:]
			}
		}
		return text
	}
	out.Env = maps.Clone(s.Env)
	out.Headers = maps.Clone(s.Headers)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		out.Env[name] = in("env."+name, name, s.Env[name], true)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		out.Headers[name] = in("headers."+name, name, s.Headers[name], false)
	}
	out.Args = slices.Clone(s.Args)
	for i, arg := range s.Args {
		prefix, name, value := splitArg(s.Args[:i], arg)
		out.Args[i] = prefix + in(fmt.Sprintf("args[%d]", i), name, value, false)
	}
	out.URL = in("url", "", s.URL, false)
	out.Proxy = in("proxy", "", s.Proxy, false)
	return out
}

// hasSecret reports whether the text of the server contains a secret.
func (s *Server) hasSecret() bool {
	return len(s.InlineSecrets()) > 0 || s.API != nil && holdsSecret(encode(*s))
}

// namedArg is an argument with a value and its name: --token=x, TOKEN=x, Name: x.
var namedArg = regexp.MustCompile(`^-*([A-Za-z][\w.-]*)(=|: *)`)

// splitArg finds the name of an argument's value, which may be the argument before it.
func splitArg(before []string, arg string) (prefix, name, value string) {
	if len(before) > 0 && !strings.HasPrefix(arg, "-") {
		if last := before[len(before)-1]; strings.HasPrefix(last, "-") && !strings.Contains(last, "=") {
			name = strings.TrimLeft(last, "-")
		}
	}
	m := namedArg.FindStringSubmatchIndex(arg)
	if m == nil || strings.HasPrefix(arg[m[1]:], "//") || IsSecretName(name) { // --password user:x
		return "", name, arg
	}
	return arg[:m[1]], arg[m[2]:m[3]], arg[m[1]:]
}

// secretPart is the range of a secret in a text.
type secretPart struct {
	name     string
	from, to int
}

// scheme is the prefix of a credential in a header.
var scheme = regexp.MustCompile(`^(?i:bearer|basic|token|apikey|bot) +`)

// secretParts returns the secrets in a named value. An address may have several.
func secretParts(name, text string) (parts []secretPart) {
	if u, err := url.Parse(text); err == nil && u.Scheme != "" && u.Host != "" {
		return addressParts(text, looksSecret)
	}
	from := len(scheme.FindString(text))
	if looksSecret(name, text[from:]) {
		return []secretPart{{name, from, len(text)}}
	}
	for _, m := range slices.Concat(named.FindAllStringSubmatchIndex(text, -1), flagged.FindAllStringSubmatchIndex(text, -1)) {
		if m[2] < 0 {
			m = m[4:] // the other form
		}
		name, from, to := text[m[2]:m[3]], m[4], m[5]
		from += len(scheme.FindString(text[from:to]))
		if looksSecret(name, text[from:to]) {
			parts = append(parts, secretPart{name, from, to})
		}
	}
	slices.SortFunc(parts, func(a, b secretPart) int { return cmp.Compare(a.from, b.from) })
	end := 0
	return slices.DeleteFunc(parts, func(p secretPart) bool { // what is within another
		within := p.from < end
		end = max(end, p.to)
		return within
	})
}

var (
	// named is a value with its name within a text, such as Server=db;Password=x and {"apiKey": "x"}.
	named = regexp.MustCompile(`([\w.-]+)=([^\s;&,"']+)|"([^"]+)"\s*:\s*"([^"]*)"`)
	// flagged is a value with its flag within a text: npx x --token y.
	flagged = regexp.MustCompile(`--([\w-]+) +["']?([^\s;&,"'-][^\s;&,"']*)`)
)

// addressParts returns the password and the query values of an address that are secret.
func addressParts(text string, isSecret func(name, value string) bool) (parts []secretPart) {
	part := func(name string, from, to int) {
		if isSecret(name, text[from:to]) {
			parts = append(parts, secretPart{name, from, to})
		}
	}
	start := strings.Index(text, "://") + len("://")
	end := start + len(until(text[start:], "#"))
	query := start + len(until(text[start:end], "?"))
	authority := until(text[start:query], "/")
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		if user := until(authority[:i], ":"); len(user) < i {
			part("password", start+len(user)+1, start+i)
		} else {
			part("", start, start+i) // a token in place of a user name
		}
	}
	for at := query + 1; at < end; {
		pair := until(text[at:end], "&")
		if name := until(pair, "="); len(name) < len(pair) {
			part(name, at+len(name)+1, at+len(pair))
		}
		at += len(pair) + 1
	}
	return parts
}

// until returns the text before the separator, or all of it.
func until(text, sep string) string {
	first, _, _ := strings.Cut(text, sep)
	return first
}

// Keys of well-known services, and long runs of letters and digits.
var (
	knownKey = regexp.MustCompile(`^(sk-|sk_|rk_|gh[opsu]_|github_pat_|glpat-|` +
		`xox[abeprs]-|AKIA|AIza|ya29\.|eyJ|npm_|hf_|ntn_|lin_api_|tvly-|SG\.)[\w.+/=-]{8,}$`)
	longRun = regexp.MustCompile(`[A-Za-z0-9]{20,}`)
	setting = regexp.MustCompile(`^(?i:true|false|none|\d{1,7})$`) // such as MAX_TOKENS=4096 and USE_AUTH=true
)

// looksSecret reports whether a value is probably a secret, by its name or because it looks like a
// key. It is stricter than redaction, because people are asked about the value.
func looksSecret(name, value string) bool {
	if len(value) < MinSecret || refers(value) || isPath.MatchString(value) || setting.MatchString(value) {
		return false
	}
	run := longRun.FindString(value)
	key := strings.ContainsAny(run, "0123456789") && strings.ContainsFunc(run, unicode.IsLetter) && !strings.Contains(value, "sha256:")
	return key || knownKey.MatchString(value) || IsSecretName(name)
}

// SecretTexts returns the texts of a tree that look like secrets, by the keys that they have.
func SecretTexts(n *node) (all []string) {
	for _, e := range n.Entries {
		if e.Value.Kind != doctree.Text {
			all = append(all, SecretTexts(e.Value)...)
			continue
		}
		for _, part := range secretParts(e.Key, e.Value.Text) {
			all = append(all, e.Value.Text[part.from:part.to])
		}
	}
	for i, item := range n.Items {
		if item.Kind != doctree.Text {
			all = append(all, SecretTexts(item)...)
			continue
		}
		var before []string
		if i > 0 {
			before = []string{n.Items[i-1].Text}
		}
		_, name, value := splitArg(before, item.Text)
		for _, part := range secretParts(name, value) {
			all = append(all, value[part.from:part.to])
		}
	}
	return all
}
