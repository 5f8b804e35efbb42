package catalog

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// Recipes is the server whose tools are scripts that people saved.
const Recipes = tool.Recipes

// RecipeMeta is the member of a recipe's _meta that says what it is made of.
const RecipeMeta = "toolfit/recipe"

// Used is a tool that a recipe uses, with the definition that it had when a person looked at it.
type Used struct {
	Name tool.Name `json:"name"`
	Hash string    `json:"hash"`
}

// RecipeUses are the tools that a recipe uses, and those that recipes among them use; nil for any other tool.
func RecipeUses(def tool.Definition) (used []Used) {
	json.Unmarshal(rawjson.Get(def.Raw, "_meta", RecipeMeta, "tools"), &used) // our own handler writes it
	return used
}

// Uses are the tools that a recipe uses; nil for any other tool.
func (e *Entry) Uses() []Used {
	if e.Server != Recipes {
		return nil
	}
	return RecipeUses(e.Definition)
}

// dropRecipes leaves out the recipes that use a tool which the profile has not, or which has changed: what cannot be called is not
// shown. Others are the parts of all other servers. The caller holds mu.
func (p *part) dropRecipes(others []*part) {
	if p.from.id != Recipes {
		return
	}
	all := p.all
	claims := p.claims
	parts := append(slices.Clip(others), p)
	var kept []*Entry
	p.claims = nil
	p.prefers = 0
	for i, e := range all {
		reason, why := unusable(e, parts)
		if reason != "" {
			p.leaveOut(e.of, reason)
			if p.withheld == nil {
				p.withheld = map[string]string{}
			}
			p.withheld[claims[i].prefixed] = why
			continue
		}
		kept = append(kept, e)
		p.claims = append(p.claims, claims[i])
		if claims[i].preferred != "" {
			p.prefers++
		}
	}
	p.all = kept
	p.kept = kept
	p.choices = make([]choice, len(kept))
}

// unusable is why a recipe cannot be called; "" if it can.
func unusable(e *Entry, parts []*part) (reason Reason, why string) {
	for _, u := range e.Uses() {
		t := findTool(parts, u.Name)
		if t == nil {
			return LacksTools, "this recipe uses a tool that the profile does not have, or that is gone"
		}
		if t.of.digest() != u.Hash {
			return ToolsChanged, "this recipe uses " + string(u.Name) + ", which has changed since it was saved; an administrator looks at that, " +
				"then runs: toolfit recipes approve " + e.Definition.Name
		}
	}
	return "", ""
}

func findTool(parts []*part, name tool.Name) *Entry {
	server, _, _ := name.Split()
	for _, p := range parts {
		if p == nil || p.from.id != server {
			continue
		}
		if i := slices.IndexFunc(p.all, func(e *Entry) bool { return e.Name == name }); i >= 0 {
			return p.all[i]
		}
	}
	return nil
}

// digest is the hash of the tool's definition. The caller holds mu.
func (t *sourceTool) digest() string {
	if t.hash == "" {
		t.hash = tool.Hash(t.def.Raw)
	}
	return t.hash
}

// withheldRecipe is why a recipe cannot be called here; "" for what is none.
func (v *View) withheldRecipe(shown string) string {
	if !strings.HasPrefix(shown, string(Recipes)+"__") {
		return ""
	}
	for _, p := range v.parts {
		if p != nil && p.from.id == Recipes {
			return p.withheld[shown]
		}
	}
	return ""
}

// Definition is a tool as its server lists it and somebody may call it, whatever the profiles have; false: there is none.
func (c *Catalog) Definition(name tool.Name) (tool.Definition, bool) {
	server, raw, _ := name.Split()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.active() {
		if k.cfg.ID != server {
			continue
		}
		_, held := k.held[pin{ToolKind, raw}]
		i := slices.IndexFunc(k.offer.Tools, func(d tool.Definition) bool { return d.Name == raw })
		if i >= 0 && !held {
			return k.offer.Tools[i], true
		}
	}
	return tool.Definition{}, false
}
