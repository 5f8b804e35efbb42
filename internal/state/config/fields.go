package config

import (
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/schema"
)

// draft is a configuration while it is read: profiles may name servers that come later.
type draft struct {
	*Config
	names []string // every server in the file, including ones with problems
	refs  []ref

	profileRefs []ref // profiles that overrides, rules and agents name
	agentPlaces []place
	brokerAt    place
	serversAt   []place // as Servers
}

type ref struct {
	at   place
	name string
}

// config reads the whole file.
func (d *decoder) config(path string, src *doctree.Source) *Config {
	c := &draft{Config: defaults(path)}
	top := place{Line: max(1, src.Root.Line)}
	if src.JSON {
		at, servers := Servers(src)
		if servers != nil {
			c.serversInto((*decoder).server, "an API")(d, at, servers)
		} else if !d.expect(top, src.Root, doctree.Mapping) {
			return c.Config
		}
	} else {
		d.object(top, src.Root, c.fields())
	}
	c.checkRefs(d)
	c.checkAgents(d)
	c.checkPublic(d)
	c.checkBroker(d)
	c.checkExchange(d)
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
		{"identity", c.readIdentity},
		{"broker", c.readBroker},
		{"replica", section([]field{
			{"url", textInto(&c.Replica.URL, urlLike("http://10.1.2.3:8420"))},
			{"drain", parsedInto(&c.Replica.Drain, parseDrain)},
		})},
		{"rate", c.Rate.read},
		{"mcpServers", c.serversInto((*decoder).server, "an API")},
		{"apis", c.serversInto((*decoder).api, "a server")},
		{"profiles", c.readProfiles},
		{"overrides", c.readOverrides},
		{"policy", c.readPolicy},
		{"approvals", c.Approvals.read},
		{"known", c.readKnown},
		{"approve", oneOf(&c.Approve, approvals...)},
		{"results", c.readResults},
		{"resultStore", oneOf(&c.ResultStore, "cut", "all", "none")},
		{"detach", parsedInto(&c.Detach, parseDetach)},
		{"kept", section(c.StoredResults.fields(time.Minute))},
		{"records", section(c.Records.fields())},
		{"sessions", section(c.Sessions.fields(1))},
		{"limits", section(c.Limits.fields())},
		{"embeddings", c.Embeddings.read},
		{"telemetry", c.Telemetry.read},
		{"audit", section(c.Audit.fields())},
		{"recall", c.readRecall},
		{"models", c.readModels},
		{"agents", c.readAgents},
	}
}

// read reads rate. The default burst is what two seconds allow.
func (r *Rate) read(d *decoder, at place, n *node) {
	d.object(at, n, r.fields())
	if r.PerKey > 0 && r.Burst == 0 {
		r.Burst = max(1, int(2*r.PerKey))
	}
	if r.PerKey == 0 && r.Burst > 0 {
		d.fail(at, "has only burst; add perKey, such as 50/s")
	}
}

func (r *Rate) fields() []field {
	return []field{
		{"perKey", parsedInto(&r.PerKey, parseRate)},
		{"burst", countInto(&r.Burst, 1, maxCalls)},
	}
}

func (r *Records) fields() []field {
	return []field{
		{"durable", boolInto(&r.Durable)},
		{"retain", durationInto(&r.Retain, 1)},
		{"maxSize", parsedInto(&r.MaxSize, parseSize)},
	}
}

func (r *Retention) fields(least time.Duration) []field {
	return []field{
		{"retain", durationInto(&r.Retain, least)},
		{"maxSize", parsedInto(&r.MaxSize, parseSize)},
		{"perKey", parsedInto(&r.PerKey, parseSize)},
	}
}

func (l *Limits) fields() []field {
	return []field{
		{"body", parsedInto(&l.Body, parseSize)},
		{"message", parsedInto(&l.Message, parseSize)},
		{"processes", countInto(&l.Processes, 1, 100_000)},
		{"sessions", countInto(&l.Sessions, 1, 1_000_000)},
		{"schema", parsedInto(&l.Schema, parseSize)},
	}
}

// serversInto reads mcpServers or apis. They share their names: an API is a server.
func (c *draft) serversInto(read func(*decoder, place, entry) Server, other string) reader {
	return func(d *decoder, at place, n *node) {
		d.each(at, n, func(inner place, e entry) {
			if slices.Contains(c.names, e.Key) {
				d.fail(inner, "there is %s of this name already; choose another", other)
				return
			}
			c.names = append(c.names, e.Key)
			if err := tool.CheckServerID(tool.ServerID(e.Key)); err != nil {
				d.fail(inner, "%s; choose another name", err)
			}
			before := len(d.problems)
			s := read(d, inner, e)
			s.Missing = d.takeAbsent(before)
			c.Servers = append(c.Servers, s)
			c.serversAt = append(c.serversAt, inner)
		})
	}
}

// newProfile returns a profile with the defaults.
func newProfile(name string) Profile {
	return Profile{
		Name: name, Names: "prefixed", All: true, Validation: "strict", Output: "off", TextBudget: DefaultBudget,
		Search: Search{Mode: "off"}, Environment: Environment{Names: "underscore"},
	}
}

func (c *draft) readProfiles(d *decoder, at place, n *node) {
	d.each(at, n, func(inner place, e entry) {
		p := newProfile(e.Key)
		d.failIf(inner, checkProfileName(e.Key))
		if e.Value.Kind == doctree.Nothing {
			d.fail(inner, "has no value; write {} for a profile with everything")
		} else {
			d.object(inner, e.Value, c.profileFields(&p))
		}
		c.Profiles = append(c.Profiles, p)
	})
}

func (c *draft) profileFields(p *Profile) []field {
	return slices.Concat([]field{
		{"servers", func(d *decoder, at place, n *node) { c.readMembers(d, at, n, p) }},
		{"tools", section(p.toolFields())},
		{"default", func(d *decoder, at place, n *node) {
			verdict := ""
			oneOf(&verdict, "allow", "deny")(d, at, n)
			p.Closed = verdict == "deny"
		}},
		{"names", oneOf(&p.Names, "prefixed", "bare")},
		{"dialect", oneOf(&p.Dialect, dialects()...)},
		{"validation", oneOf(&p.Validation, "strict", "light")},
		{"repairs", p.readRepairs},
		{"budget", p.readBudget},
		{"shape", oneOf(&p.Shape, shapes...)},
		{"dropEmpty", boolInto(&p.DropEmpty)},
		{"paging", boolInto(&p.Paging)},
		{"detach", parsedInto(&p.Detach, parseDetach)},
		{"tests", boolInto(&p.Tests)},
		{"code", func(d *decoder, at place, n *node) {
			code := ""
			oneOf(&code, "on", "off")(d, at, n)
			p.Code = code == "on"
		}},
		{"safety", section(p.Safety.fields())},
		{"output", oneOf(&p.Output, "off", "warn", "strict")},
	}, p.Search.fields(), p.Environment.fields())
}

// dialects returns the names of the public dialects, sorted.
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

// readMembers reads the servers of a profile. An empty list is ambiguous, so it is refused.
func (c *draft) readMembers(d *decoder, at place, n *node, p *Profile) {
	if n.Kind == doctree.List && len(n.Items) == 0 {
		d.fail(at, "names no server; leave the key out for all servers")
		return
	}
	p.All = false
	d.items(at, n, func(inner place, item *node) {
		name, final, ok := d.scalar(inner, item)
		if !ok || !final {
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

// checkRefs reports references to servers and profiles that do not exist.
func (c *draft) checkRefs(d *decoder) {
	for _, r := range c.refs {
		if slices.Contains(c.names, r.name) || r.name == string(tool.Recipes) { // there may be none yet
			continue
		}
		fix := doctree.DidYouMean(r.name, c.names)
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
			d.fail(r.at, "there is no profile %q%s", r.name, doctree.DidYouMean(r.name, profiles))
		}
	}
}
