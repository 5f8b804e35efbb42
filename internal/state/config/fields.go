package config

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/schema"
)

// draft is a configuration while it is read: its profiles may name servers that come later.
type draft struct {
	*Config
	names []string // every server in the file, also ones with problems
	refs  []ref

	profileRefs []ref // profiles that overrides, rules and agents name
	agentPlaces []place
}

type ref struct {
	at   place
	name string
}

// config reads the whole file.
func (d *decoder) config(path string, src *source) *Config {
	c := &draft{Config: defaults(path)}
	top := place{line: max(1, src.root.line)}
	if src.json {
		at, servers := serversIn(src)
		if servers != nil {
			c.readServers(d, at, servers)
		} else if !d.expect(top, src.root, object) {
			return c.Config
		}
	} else {
		d.object(top, src.root, c.fields())
	}
	c.checkRefs(d)
	c.checkAgents(d)
	if !slices.ContainsFunc(c.Profiles, func(p Profile) bool { return p.Name == DefaultProfile }) {
		c.Profiles = append([]Profile{newProfile(DefaultProfile)}, c.Profiles...)
	}
	if !d.raw && !strings.Contains(c.Store, "://") && !strings.HasPrefix(c.Store, ":") && !strings.HasPrefix(c.Store, "file:") {
		c.Store = joined(d.dir, c.Store)
	}
	c.BasePath = strings.TrimRight(c.BasePath, "/")
	c.Secrets = d.secrets
	return c.Config
}

func (c *draft) fields() []field {
	return []field{
		{"listen", textInto(&c.Listen, CheckAddress)},
		{"store", textInto(&c.Store, checkFilled)},
		{"hosts", listInto(&c.Hosts, checkHost)},
		{"origins", listInto(&c.Origins, checkOrigin)},
		{"basePath", textInto(&c.BasePath, checkBasePath)},
		{"publicURL", textInto(&c.PublicURL, urlLike("https://example.com"))},
		{"proxies", networksInto(&c.Proxies)},
		{"rate", c.Rate.read},
		{"mcpServers", c.readServers},
		{"apis", c.readAPIs},
		{"profiles", c.readProfiles},
		{"overrides", c.readOverrides},
		{"known", c.readKnown},
		{"approve", oneOf(&c.Approve, "auto", "changed", "all")},
		{"results", c.readResults},
		{"resultStore", oneOf(&c.ResultStore, "cut", "all", "none")},
		{"kept", c.Kept.read},
		{"records", c.Records.read},
		{"sessions", c.Sessions.read},
		{"limits", c.Limits.read},
		{"embeddings", c.Embeddings.read},
		{"recall", c.readRecall},
		{"models", c.readModels},
		{"agents", c.readAgents},
	}
}

// networksInto reads networks; a single address is a network of one.
func networksInto(dst *[]netip.Prefix) reader {
	return func(d *decoder, at place, n *node) {
		d.items(at, n, func(inner place, item *node) {
			s, settled, ok := d.scalar(inner, item)
			if !ok || !settled {
				return
			}
			network, valid := parseNetwork(s)
			if !valid {
				d.fail(inner, "expected a network or an address, such as 10.0.0.0/8 or 127.0.0.1")
				return
			}
			*dst = append(*dst, network)
		})
	}
}

// read reads rate. The burst of a rate that names none is what two seconds allow.
func (r *Rate) read(d *decoder, at place, n *node) {
	d.object(at, n, r.fields())
	if r.PerKey > 0 && r.Burst == 0 {
		r.Burst = max(1, int(2*r.PerKey))
	}
	if r.PerKey == 0 && r.Burst > 0 {
		d.fail(at, "has burst alone; add perKey, such as 50/s")
	}
}

func (r *Rate) fields() []field {
	return []field{
		{"perKey", rateInto(&r.PerKey)},
		{"burst", countInto(&r.Burst, 1, maxCalls)},
	}
}

func (r *Records) read(d *decoder, at place, n *node) { d.object(at, n, r.fields()) }

func (r *Records) fields() []field {
	return []field{
		{"durable", boolInto(&r.Durable)},
		{"retain", durationInto(&r.Retain, 1)},
		{"maxSize", sizeInto(&r.MaxSize)},
	}
}

func (s *Sessions) read(d *decoder, at place, n *node) { d.object(at, n, s.fields()) }

func (s *Sessions) fields() []field {
	return []field{
		{"retain", durationInto(&s.Retain, 1)},
		{"maxSize", sizeInto(&s.MaxSize)},
		{"perKey", sizeInto(&s.PerKey)},
	}
}

func (l *Limits) read(d *decoder, at place, n *node) { d.object(at, n, l.fields()) }

func (l *Limits) fields() []field {
	return []field{
		{"body", sizeInto(&l.Body)},
		{"message", sizeInto(&l.Message)},
		{"processes", countInto(&l.Processes, 1, 100_000)},
		{"schema", sizeInto(&l.Schema)},
	}
}

// readServers reads mcpServers.
func (c *draft) readServers(d *decoder, at place, n *node) {
	d.each(at, n, func(inner place, e entry) {
		if slices.Contains(c.names, e.key) {
			d.fail(inner, "there is an API of this name already; choose another")
			return
		}
		c.names = append(c.names, e.key)
		if err := tool.CheckServerID(tool.ServerID(e.key)); err != nil {
			d.fail(inner, "%s; choose another name", err)
		}
		before := len(d.problems)
		s := d.server(inner, e)
		s.Lacks = d.setAside(before)
		c.Servers = append(c.Servers, s)
	})
}

// newProfile is a profile that the file says nothing about.
func newProfile(name string) Profile {
	return Profile{Name: name, Names: "prefixed", All: true, Validation: "strict", Output: "off", Search: Search{Mode: "off"}, Environment: Environment{Names: "underscore"}}
}

// readProfiles reads profiles.
func (c *draft) readProfiles(d *decoder, at place, n *node) {
	d.each(at, n, func(inner place, e entry) {
		p := newProfile(e.key)
		if wrong := checkProfileName(e.key); wrong != "" {
			d.fail(inner, "%s", wrong)
		}
		if e.value.kind == nothing {
			d.fail(inner, "has no value; write {} for a profile with everything")
		} else {
			d.object(inner, e.value, c.profileFields(&p))
		}
		c.Profiles = append(c.Profiles, p)
	})
}

func (c *draft) profileFields(p *Profile) []field {
	return slices.Concat([]field{
		{"servers", func(d *decoder, at place, n *node) { c.readMembers(d, at, n, p) }},
		{"tools", func(d *decoder, at place, n *node) { d.object(at, n, p.toolFields()) }},
		{"names", oneOf(&p.Names, "prefixed", "bare")},
		{"dialect", oneOf(&p.Dialect, dialects()...)},
		{"validation", oneOf(&p.Validation, "strict", "light")},
		{"repairs", p.readRepairs},
		{"budget", countInto(&p.Budget, minBudget, maxBudget)},
		{"shape", oneOf(&p.Shape, shapes...)},
		{"dropEmpty", boolInto(&p.DropEmpty)},
		{"paging", boolInto(&p.Paging)},
		{"tests", boolInto(&p.Tests)},
		{"safety", p.Safety.read},
		{"output", oneOf(&p.Output, "off", "warn", "strict")},
	}, p.Search.fields(), p.Environment.fields())
}

// dialects are the names of those that a model's provider may want, sorted.
func dialects() []string {
	var names []string
	for d := range schema.Dialects() {
		names = append(names, string(d))
	}
	slices.Sort(names)
	return names
}

func (p *Profile) toolFields() []field {
	return []field{
		{"allow", someInto(&p.Allow, checkGlob)},
		{"deny", listInto(&p.Deny, checkGlob)},
	}
}

// readMembers reads the servers of a profile. An empty list would let nothing or
// everything through, depending on who reads it, so it is refused.
func (c *draft) readMembers(d *decoder, at place, n *node, p *Profile) {
	if n.kind == list && len(n.items) == 0 {
		d.fail(at, "names no server; leave the key out for all servers")
		return
	}
	p.All = false
	d.items(at, n, func(inner place, item *node) {
		name, settled, ok := d.scalar(inner, item)
		if !ok || !settled {
			return
		}
		if name == "*" {
			p.All = true
			return
		}
		id := tool.ServerID(name)
		if slices.Contains(p.Servers, id) {
			d.fail(inner, "is named twice; keep one")
			return
		}
		p.Servers = append(p.Servers, id)
		c.refs = append(c.refs, ref{inner, name})
	})
	if p.All {
		p.Servers = nil
	}
}

// checkRefs reports servers that profiles name and the file does not have.
func (c *draft) checkRefs(d *decoder) {
	for _, r := range c.refs {
		if slices.Contains(c.names, r.name) {
			continue
		}
		fix := didYouMean(r.name, c.names)
		if fix == "" {
			fix = "; add it to mcpServers or apis, or remove it here"
		}
		d.fail(r.at, "there is no server %q%s", r.name, fix)
	}
	profiles := []string{DefaultProfile}
	for _, p := range c.Profiles {
		profiles = append(profiles, p.Name)
	}
	for _, r := range c.profileRefs {
		if !slices.Contains(profiles, r.name) {
			d.fail(r.at, "there is no profile %q%s", r.name, didYouMean(r.name, profiles))
		}
	}
}
