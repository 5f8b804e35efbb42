package serverjson

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/guard"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Wish says which of several ways a person wants.
type Wish struct {
	Remote  bool
	Package string // a kind; "": the first of Kinds that there is
}

// Kinds are the packages that can be run, the preferred first.
var Kinds = []string{"npm", "pypi", "oci", "mcpb"}

// runners run packages of a kind.
var runners = map[string]string{"npm": "npx", "pypi": "uvx", "oci": "docker"}

// identifiers are how packages of a kind are named: no flag, address or path can pass for one.
var identifiers = map[string]*regexp.Regexp{
	"npm":  regexp.MustCompile(`^(@[A-Za-z0-9~][A-Za-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]{0,213}$`),
	"pypi": regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,200}[A-Za-z0-9])?$`),
	"oci":  regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*(:[0-9]+)?(/[a-z0-9][a-z0-9._-]*)*(:\w[\w.-]{0,127})?(@sha256:[a-f0-9]{64})?$`),
	"mcpb": regexp.MustCompile(`^https://[^\s\x00-\x20]+$`),
}

// ofRunner are variables that change what a runner fetches or loads.
var ofRunner = regexp.MustCompile(`(?i)^(npm_config_.*|uv_.*|pip_.*|docker_.*|ld_.*|dyld_.*|node_options|node_path|pythonpath|pythonhome|` +
	`pythonstartup|path|home|(http|https|all)_proxy)$`)

var digest = regexp.MustCompile(`^[a-f0-9]{64}$`)

// Choose decides how the server is run: by a package, or without one that can be run here, at an address.
func (d *Document) Choose(w Wish) (*Plan, error) {
	plan := &Plan{Name: d.Name, Version: d.Version, Description: d.Description}
	switch d.Status {
	case "deleted":
		return nil, fault.New(fault.NotFound, "the registry has deleted %s %s", d.Name, d.Version)
	case "deprecated":
		plan.Notes = append(plan.Notes, "the registry says that this version is deprecated")
	}
	p, has := d.runnable(w.Package)
	switch {
	case has && !w.Remote:
		return plan, plan.run(p)
	case len(d.Remotes) > 0 && w.Package == "":
		return plan, plan.connect(d.Remotes)
	}
	return nil, fault.New(fault.BadConfig, "%s has nothing of the wanted kind that can be run here; it has: %s", d.Name, d.ways()).
		WithHint("packages of %s that speak stdio can be run, and remotes", strings.Join(Kinds, ", "))
}

// runnable is the preferred package that can be run.
func (d *Document) runnable(kind string) (*Package, bool) {
	for _, want := range Kinds {
		for i, p := range d.Packages {
			if p.Kind == want && (kind == "" || kind == want) && cmp.Or(p.Transport.Type, "stdio") == "stdio" {
				return &d.Packages[i], true
			}
		}
	}
	return nil, false
}

// ways lists what there is.
func (d *Document) ways() string {
	var all []string
	for _, p := range d.Packages {
		all = append(all, fmt.Sprintf("%.20s (%.20s)", p.Kind, cmp.Or(p.Transport.Type, "stdio")))
	}
	for _, r := range d.Remotes {
		all = append(all, fmt.Sprintf("remote (%.20s)", r.Type))
	}
	return cmp.Or(strings.Join(all, ", "), "nothing")
}

// run plans to run a package.
func (p *Plan) run(k *Package) error {
	if !identifiers[k.Kind].MatchString(k.Identifier) || k.Version != "" && !version.MatchString(k.Version) {
		return fault.New(fault.BadConfig, "%s: %q %q is not a package of the kind %s with a version", p.Name, k.Identifier, k.Version, k.Kind)
	}
	if k.Kind == "mcpb" {
		if !digest.MatchString(k.SHA256) {
			return fault.New(fault.BadConfig, "%s: the bundle has no fileSha256, so that it cannot be checked", p.Name)
		}
		p.Bundle = k
		return nil
	}
	runner := runners[k.Kind]
	if len(k.RuntimeArgs) > 0 && cmp.Or(k.RuntimeHint, runner) != runner {
		return fault.New(fault.BadConfig, "%s: its package wants to be run by %q; only %s is known for %s", p.Name, k.RuntimeHint, runner, k.Kind)
	}
	what := strings.TrimRight(k.Identifier+"@"+k.Version, "@")
	if k.Kind == "oci" {
		what = image(k)
	}
	if k.Base != "" && k.Kind != "oci" {
		p.Notes = append(p.Notes, fmt.Sprintf("the package is published at %.200s; %s asks the registry that it is set up for", k.Base, runner))
	}
	p.Risky = len(k.RuntimeArgs) > 0 || slices.ContainsFunc(k.Env, func(in Input) bool {
		return ofRunner.MatchString(in.Name) && in.Value+in.Default != ""
	})
	p.Build = func(f *Filler) config.Server {
		s := config.Server{Command: runner, Env: f.pairs(k.Env)}
		s.Args = slices.Concat(runnerArgs(k.Kind, f.arguments(k.RuntimeArgs), s.Env), []string{what}, f.arguments(k.Args))
		return s
	}
	return nil
}

// image is the name of an image with its version. Older documents have host and version apart.
func image(k *Package) string {
	name := k.Identifier
	host, _, hasHost := strings.Cut(name, "/")
	if u, err := url.Parse(k.Base); err == nil && u.Host != "" && !(hasHost && strings.ContainsAny(host, ".:")) {
		name = u.Host + "/" + name
	}
	if last := name[strings.LastIndex(name, "/")+1:]; k.Version != "" && !strings.ContainsAny(last, ":@") {
		name += ":" + k.Version
	}
	return name
}

// runnerArgs is the beginning of the command line: what we add, then what the document adds.
func runnerArgs(kind string, theirs []string, env map[string]string) []string {
	without := func(words ...string) []string {
		return slices.DeleteFunc(theirs, func(w string) bool { return slices.Contains(words, w) })
	}
	switch kind {
	case "npm":
		return append([]string{"-y"}, without("-y", "--yes")...)
	case "oci":
		if len(theirs) > 0 && theirs[0] == "run" {
			theirs = theirs[1:]
		}
		words := append([]string{"run", "-i", "--rm"}, without("-i", "--interactive", "--rm")...)
		for _, name := range slices.Sorted(maps.Keys(env)) {
			words = append(words, "-e", name)
		}
		return words
	}
	return theirs
}

// connect plans to use a server at an address.
func (p *Plan) connect(remotes []Remote) error {
	r := remotes[0]
	if i := slices.IndexFunc(remotes, func(r Remote) bool { return r.Type == "streamable-http" }); i >= 0 {
		r = remotes[i]
	}
	if r.Type != "streamable-http" && r.Type != "sse" {
		return fault.New(fault.BadConfig, "%s: the transport %q of its remote is not known", p.Name, r.Type)
	}
	u, err := url.Parse(hole.ReplaceAllString(r.URL, "0")) // which may stand for a port
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !guard.IsLoopback(u.Hostname())) {
		return fault.New(fault.BadConfig, "%s: %q is not an https address", p.Name, r.URL)
	}
	for name, in := range r.Variables {
		in.Required = in.Required || in.Default == "" // there is no address without it
		r.Variables[name] = in
	}
	p.Build = func(f *Filler) config.Server {
		s := config.Server{Headers: f.pairs(r.Headers)}
		if r.Type == "sse" {
			s.Type = r.Type
		}
		address, _ := f.expand(r.URL, r.Variables)
		s.URL = f.Join(address...)
		return s
	}
	return nil
}
