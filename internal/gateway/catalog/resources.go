package catalog

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// ownedTemplate is a family of resources and the server that owns it.
type ownedTemplate struct {
	text   string
	server tool.ServerID
}

// addResources adds a server's resources. URIs stay unchanged, so the first server that lists one owns it.
func (v *View) addResources(p config.Profile, s *known, resources, templates *list) {
	id := s.cfg.ID
	for _, raw := range s.offer.Resources {
		uri := textOf(raw, "uri")
		raw = s.approved(pin{ResourceKind, uri}, raw)
		if raw == nil {
			v.withheld = append(v.withheld, uri)
			continue
		}
		if _, taken := v.owners[uri]; !taken && access.Sees(p, id, tool.Canonical(id, uri)) {
			v.owners[uri] = id
			resources.add(raw)
		}
	}
	for _, raw := range s.offer.Templates {
		text := textOf(raw, "uriTemplate")
		raw = s.approved(pin{TemplateKind, text}, raw)
		if raw == nil {
			v.withheld = append(v.withheld, text)
			continue
		}
		if access.Sees(p, id, tool.Canonical(id, text)) {
			v.templates = append(v.templates, ownedTemplate{text, id})
			templates.add(raw)
		}
	}
	if rawjson.Get(s.offer.Capabilities, "resources") != nil && access.Sees(p, id, tool.Canonical(id, "")) {
		v.readable = append(v.readable, id)
	}
}

// addInstructions joins the servers' instructions.
func (v *View) addInstructions(p config.Profile, s *known) {
	text := strings.TrimSpace(s.offer.Instructions)
	if h, held := s.held[pin{kind: InstructionsKind}]; held {
		text, _ = rawjson.String(h.was)
	}
	if text == "" || !access.Sees(p, s.cfg.ID, tool.Canonical(s.cfg.ID, "")) {
		return
	}
	if v.Instructions != "" {
		v.Instructions += "\n\n"
	}
	v.Instructions += "# " + string(s.cfg.ID) + "\n" + text
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
	if e := v.byPrompt[shown]; e != nil {
		return e, nil
	}
	return nil, fault.New(fault.NotFound, "unknown prompt: %s", shown)
}

// Owner finds the server of a resource: the one that lists it, else the best matching template's, else the only one with resources.
func (v *View) Owner(uri string) (tool.ServerID, error) {
	if id, ok := v.owners[uri]; ok {
		return id, nil
	}
	best := ownedTemplate{}
	for _, t := range v.templates {
		if (t.text == uri || fits(t.text, uri)) && len(t.text) > len(best.text) {
			best = t
		}
	}
	switch {
	case best.server != "":
		return best.server, nil
	case slices.ContainsFunc(v.withheld, func(held string) bool { return held == uri || fits(held, uri) }):
	case len(v.readable) == 1:
		return v.readable[0], nil
	}
	return "", fault.New(fault.NotFound, "unknown resource: %s", uri)
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
