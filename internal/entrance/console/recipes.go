package console

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/approval"
	"github.com/toolfit/toolfit/internal/gateway/recipes"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Recipes reads the scripts that people saved as tools.
type Recipes interface {
	ListRecipes(who access.Principal) ([]restapi.Recipe, error)
	ReadRecipe(who access.Principal, name string) (restapi.Recipe, error)
	ProposeRecipe(ctx context.Context, who approval.Decider, in restapi.RecipeOrder) (recipes.Recipe, error)
}

// RecipeChanges saves, approves and deletes them.
type RecipeChanges interface {
	SaveRecipe(ctx context.Context, who approval.Decider, in restapi.RecipeOrder) (restapi.Recipe, error)
	ApproveRecipe(ctx context.Context, who approval.Decider, name string) (restapi.Recipe, error)
	DeleteRecipe(ctx context.Context, who approval.Decider, name string) error
}

func (c *Console) recipesSection() section {
	return section{name: "recipes", path: "/recipes", key: "i", may: access.Principal.MayRead, routes: map[string]handler{
		"GET /recipes":                 page("recipes", whole, c.listRecipes),
		"POST /recipes":                c.saveRecipe,
		"GET /recipes/save/{run}":      page("newrecipe", whole, c.proposeRecipe),
		"GET /recipes/{name}":          page("recipe", whole, c.readRecipe),
		"POST /recipes/{name}/approve": c.approveRecipe,
		"POST /recipes/{name}/delete":  c.deleteRecipe,
	}}
}

func (c *Console) listRecipes(v *visit) ([]restapi.Recipe, error) {
	return c.Recipes.ListRecipes(v.who)
}

type recipePage struct {
	restapi.Recipe
	May                   bool // change it
	Script, Input, Output block
}

func (c *Console) readRecipe(v *visit) (p recipePage, err error) {
	p.Recipe, err = c.Recipes.ReadRecipe(v.who, v.PathValue("name"))
	p.May = c.decider(v).Administers("")
	p.Script = prose(text(v.lang, "recipe.script"), p.Code)
	p.Input = code(text(v.lang, "recipe.input"), p.Recipe.Input)
	p.Output = code(text(v.lang, "recipe.output"), p.Recipe.Output)
	return p, err
}

type recipeForm struct {
	Run    string
	Tools  []string
	Script block
	Input  input
}

// proposeRecipe shows the form with what a run could be saved as.
func (c *Console) proposeRecipe(v *visit) (recipeForm, error) {
	r, err := c.Recipes.ProposeRecipe(v.Context(), c.decider(v), restapi.RecipeOrder{Run: v.PathValue("run")})
	if err != nil {
		return recipeForm{}, err
	}
	f := formOf(v, r)
	f.Input.values = url.Values{"input": {string(indented(r.Input, maxWhole))}, "output": {string(indented(r.Output, maxWhole))}}
	return f, nil
}

func formOf(v *visit, r recipes.Recipe) recipeForm {
	f := recipeForm{Run: r.Run, Script: prose(text(v.lang, "recipe.script"), r.Code)}
	for _, t := range r.Tools {
		f.Tools = append(f.Tools, string(t.Name))
	}
	return f
}

func (c *Console) saveRecipe(v *visit) (answer, error) {
	form := func(name string) string { return strings.TrimSpace(v.PostForm.Get(name)) }
	in := restapi.RecipeOrder{Run: form("run"), Name: form("name"), Description: form("description")}
	err := readJSON("input", form("input"), &in.Input)
	if err == nil {
		err = readJSON("output", form("output"), &in.Output)
	}
	if err == nil {
		_, err = c.RecipeChanges.SaveRecipe(v.Context(), c.decider(v), in)
	}
	if err == nil {
		return done("/recipes/"+url.PathEscape(in.Name), "recipeSaved")
	}
	again, ok := rejected(v, err)
	if !ok {
		return answer{}, err
	}
	r, wrong := c.Recipes.ProposeRecipe(v.Context(), c.decider(v), restapi.RecipeOrder{Run: in.Run})
	if wrong != nil {
		return answer{}, wrong
	}
	f := formOf(v, r)
	f.Input = again
	return show("newrecipe", f)
}

// readJSON reads a field of a form; an empty one is not set.
func readJSON(name, text string, into *json.RawMessage) error {
	if text == "" {
		return nil
	}
	if !json.Valid([]byte(text)) {
		return fault.New(fault.BadRequest, "%s is not JSON", name)
	}
	*into = json.RawMessage(text)
	return nil
}

func (c *Console) approveRecipe(v *visit) (answer, error) {
	name := v.PathValue("name")
	if _, err := c.RecipeChanges.ApproveRecipe(v.Context(), c.decider(v), name); err != nil {
		return answer{}, err
	}
	return done("/recipes/"+url.PathEscape(name), "recipeApproved")
}

func (c *Console) deleteRecipe(v *visit) (answer, error) {
	if err := c.RecipeChanges.DeleteRecipe(v.Context(), c.decider(v), v.PathValue("name")); err != nil {
		return answer{}, err
	}
	return done("/recipes", "recipeDeleted")
}
