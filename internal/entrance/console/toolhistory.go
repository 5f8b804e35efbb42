package console

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/linediff"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// overridden is what the configuration changes of a tool.
type overridden struct {
	Name  string // of the comparison
	Diff  []linediff.Line
	Parts []overriddenPart
}

// overriddenPart is one kind of change, and the names that it is about. Values are not shown: fixed ones may be secrets.
type overriddenPart struct {
	Kind  string // override.KIND
	Names []string
}

// toolVersion is a definition that a tool has or had, compared with the one before.
type toolVersion struct {
	restapi.ToolVersion
	Name  string // of the comparison
	First bool   // none before it is known
	More  int    // tokens than the one before has
	Path  string // where it is compared
	Diff  []linediff.Line
}

// describe adds what those who may read everything see of a tool: what is overridden, and what it was like before.
func (c *Console) describe(v *visit, p *toolPage) error {
	if p.Override != nil {
		p.Overridden = &overridden{text(v.lang, "override.diff"), diffJSON(p.Original, p.Definition), partsOf(p.Override)}
	}
	if !v.who.MayRead() || p.Server == "" {
		return nil
	}
	var err error
	p.History, err = c.versionsOf(v, p.Profile)
	if len(p.History) == 1 && p.History[0].State == "" {
		p.Unchanged = &p.History[0].Since
	}
	return err
}

func partsOf(o *fit.Override) (parts []overriddenPart) {
	add := func(kind string, names ...string) {
		if len(names) > 0 {
			parts = append(parts, overriddenPart{kind, names})
		}
	}
	if o.Name != "" {
		add("name", o.Name)
	}
	if o.Description != nil {
		add("description", "description")
	}
	var renamed []string
	for _, own := range slices.Sorted(maps.Keys(o.Rename)) {
		renamed = append(renamed, own+" → "+o.Rename[own])
	}
	add("rename", renamed...)
	add("describe", slices.Sorted(maps.Keys(o.Describe))...)
	add("hide", o.Hide...)
	add("fix", slices.Sorted(maps.Keys(o.Fix))...)
	add("default", slices.Sorted(maps.Keys(o.Default))...)
	add("require", o.Require...)
	add("enum", slices.Sorted(maps.Keys(o.Enum))...)
	return parts
}

// versionsOf are the definitions of the tool that the visit is about. The one that waits for a decision is compared at once.
func (c *Console) versionsOf(v *visit, profile string) (list []toolVersion, err error) {
	h, err := c.Tools.History(v.Context(), v.who, profile, v.PathValue("name"))
	for i, one := range h.Versions {
		t := toolVersion{ToolVersion: one, Name: text(v.lang, "history.diff"), First: i == len(h.Versions)-1}
		t.Path = c.at("/tools/" + url.PathEscape(v.PathValue("name")) + "/versions/" + url.PathEscape(one.Hash))
		if profile != "" {
			t.Path += "?profile=" + url.QueryEscape(profile)
		}
		var before json.RawMessage
		if !t.First {
			before = h.Versions[i+1].Definition
			t.More = one.Tokens - h.Versions[i+1].Tokens
		}
		if one.State == "held" || v.PathValue("hash") == one.Hash {
			t.Diff = diffJSON(before, one.Definition)
		}
		list = append(list, t)
	}
	return list, err
}

// showVersion shows what has changed in one definition: within the page for htmx, else the page with it.
func (c *Console) showVersion(v *visit) (answer, error) {
	q := v.URL.Query()
	if v.Header.Get("HX-Request") == "" {
		p, err := c.showTool(v)
		return answer{page: "tool", data: p}, err
	}
	list, err := c.versionsOf(v, q.Get("profile"))
	if err != nil {
		return answer{}, err
	}
	at := slices.IndexFunc(list, func(t toolVersion) bool { return t.Hash == v.PathValue("hash") })
	if at < 0 {
		return answer{}, fault.New(fault.NotFound, "this definition is not kept any more")
	}
	return answer{page: "tool", block: "diff", data: list[at]}, nil
}
