package catalog

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/mcp"
)

// ownedTemplate is a family of resources and the server that owns it.
type ownedTemplate struct {
	text   string
	server tool.ServerID
	raw    json.RawMessage
}

// addResources adds a server's resources. URIs stay unchanged, so the first server that lists one owns it; only apps and
// skills are moved.
func (g *group) addResources(b *beside) {
	for _, r := range b.resources {
		r, shown := g.hereOf(b, r, "uri")
		if !shown {
			continue
		}
		if _, taken := g.owners[r.uri]; !taken {
			g.owners[r.uri] = b.server
			g.resources = append(g.resources, r)
		} else if moved := g.move(b.server, r.uri); moved != "" {
			raw := mcp.Edit(r.raw, "uri", func([]byte) []byte { return rawjson.AppendString(nil, moved) })
			g.resources = append(g.resources, resource{moved, raw})
		}
	}
	for _, t := range b.templates {
		if t, shown := g.hereOf(b, t, "uriTemplate"); shown {
			g.templates = append(g.templates, ownedTemplate{t.uri, b.server, t.raw})
		}
	}
	g.withheld = append(g.withheld, b.withheld...)
	if b.readable {
		g.readable = append(g.readable, b.server)
	}
}

// prompts are a server's prompts as its callers see them.
func (k *known) prompts() (list []tool.Definition) {
	for _, def := range k.offer.Prompts {
		raw := k.approved(pin{PromptKind, def.Name}, def.Raw)
		if raw == nil {
			continue
		}
		if was, err := tool.ParseDefinition(raw); err == nil {
			list = append(list, was)
		}
	}
	return list
}

// FindPrompt returns the prompt that the profile shows under the name.
func (v *View) FindPrompt(shown string) (*Entry, error) {
	if v.ownPrompt != nil && v.ownPrompt.Shown == shown {
		return v.ownPrompt, nil
	}
	if e := v.beside.byPrompt[shown]; e != nil {
		return e, nil
	}
	return nil, fault.New(fault.NotFound, "unknown prompt: %s", shown)
}

// Owner finds the server of a resource: the one whose skill it is of or that lists it, else the best matching template's, else the
// only one with resources.
func (v *View) Owner(uri string) (tool.ServerID, error) {
	b := v.beside.amongSkills(uri)
	switch {
	case b == nil:
		return v.ownerOf(uri)
	case v.reads(b, b.skills.original(uri)):
		return b.server, nil
	}
	return "", unknownResource(uri)
}

// ownerOf finds the server of a resource under the server's own URI of it, or of an app's page.
func (v *View) ownerOf(uri string) (tool.ServerID, error) {
	id := v.claimedBy(uri)
	if b := v.beside.withSkills[url.PathEscape(string(id))]; b != nil {
		if one := b.skills.of(uri); one != nil && !one.shown {
			id = ""
		}
	}
	if id == "" {
		return "", unknownResource(uri)
	}
	return id, nil
}

func unknownResource(uri string) error { return fault.New(fault.NotFound, "unknown resource: %s", uri) }

// claimedBy is the server that a resource belongs to; "": none.
func (v *View) claimedBy(uri string) tool.ServerID {
	if id, ok := v.beside.owners[uri]; ok {
		return id
	}
	best := ownedTemplate{}
	for _, t := range v.beside.templates {
		if (t.text == uri || fits(t.text, uri)) && len(t.text) > len(best.text) {
			best = t
		}
	}
	switch {
	case best.server != "":
		return best.server
	case isWithheld(v.beside.withheld, uri):
	case len(v.beside.readable) == 1:
		return v.beside.readable[0]
	}
	return ""
}

// isWithheld tells whether a URI is of something held, or can come from such a template.
func isWithheld(held []string, uri string) bool {
	return slices.ContainsFunc(held, func(held string) bool { return held == uri || fits(held, uri) })
}

// fits tells whether a URI can come from a template: its fixed parts stand there in order.
func fits(template, uri string) bool {
	fixed, rest, ok := strings.Cut(template, "{")
	if !ok {
		return template == uri
	}
	uri, ok = strings.CutPrefix(uri, fixed)
	for ok {
		_, after, closed := strings.Cut(rest, "}")
		if !closed {
			return false
		}
		var more bool
		fixed, rest, more = strings.Cut(after, "{")
		if !more {
			return strings.HasSuffix(uri, fixed)
		}
		at := strings.Index(uri, fixed)
		if at < 0 {
			return false
		}
		uri = uri[at+len(fixed):]
	}
	return false
}
