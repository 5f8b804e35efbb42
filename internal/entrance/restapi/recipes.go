package restapi

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/approval"
	"github.com/toolfit/toolfit/internal/gateway/recipes"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/overlay"
)

// RecipeBook knows the recipes, and changes them.
type RecipeBook interface {
	// Recipes returns all of them. It is read-only.
	Recipes() []overlay.Entry[recipes.Recipe]
	// SaveRecipe stores a recipe and lists it.
	SaveRecipe(ctx context.Context, r recipes.Recipe) error
	// RemoveRecipe deletes a recipe.
	RemoveRecipe(ctx context.Context, name string) error
}

// Recipe is a recipe as the API shows it.
type Recipe struct {
	recipes.Recipe
	Tool    tool.Name   `json:"tool"` // its name among all tools
	Version int64       `json:"version"`
	Hash    string      `json:"hash"` // of the script
	State   RecipeState `json:"state"`
	Reason  string      `json:"reason,omitempty"` // why it is not ready
}

// RecipeState is where a recipe stands.
type RecipeState string

const (
	RecipeReady  RecipeState = "ready"
	RecipeHeld   RecipeState = "held"   // one of its tools has changed, until a person approves it
	RecipeBroken RecipeState = "broken" // what is stored cannot be read
)

type RecipeList struct {
	Recipes []Recipe `json:"recipes"`
}

// RecipeOrder is what a person saves a run as. Schemas that are left out are as proposed.
type RecipeOrder struct {
	Run         string          `json:"run"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input"`
	Output      json.RawMessage `json:"output"`
}

func (a *API) showRecipe(e *overlay.Entry[recipes.Recipe]) Recipe {
	r := Recipe{Recipe: e.Value, Version: e.Row.Version, State: RecipeReady}
	r.Name = e.ID
	r.Tool = r.Recipe.Tool()
	r.Hash = r.Recipe.Hash()
	if e.Problem != "" {
		r.State = RecipeBroken
		r.Reason = e.Problem
	} else if name, why := r.Changed(a.Catalog.Definition); name != "" {
		r.State = RecipeHeld
		r.Reason = string(name) + " " + why
	}
	return r
}

// ListRecipes returns all recipes, by name.
func (a *API) ListRecipes(who access.Principal) ([]Recipe, error) {
	if !who.MayRead() {
		return nil, who.Forbidden("%s may not read the recipes")
	}
	list := []Recipe{}
	for _, e := range a.Recipes.Recipes() {
		list = append(list, a.showRecipe(&e))
	}
	return list, nil
}

// ReadRecipe returns one recipe.
func (a *API) ReadRecipe(who access.Principal, name string) (Recipe, error) {
	list, err := a.ListRecipes(who)
	for _, r := range list {
		if r.Name == name {
			return r, nil
		}
	}
	if err == nil {
		err = fault.New(fault.NotFound, "there is no recipe %.100q", name).WithHint("see: toolfit recipes")
	}
	return Recipe{}, err
}

// notForRecipes is the error for somebody who may not change recipes.
func notForRecipes(who approval.Decider) error {
	if who.Principal == access.Local() {
		return who.Forbidden("%s may not change recipes")
	}
	return fault.New(fault.Forbidden, "%s may not change recipes", who.Name).
		WithHint("an administrator does so on the page, or with a key that did not make the run; tokens do not, because agents have them")
}

// ProposeRecipe is what a run could be saved as; what the order has instead is in it.
func (a *API) ProposeRecipe(ctx context.Context, who approval.Decider, in RecipeOrder) (recipes.Recipe, error) {
	if err := needAdmin(who.Principal); err != nil {
		return recipes.Recipe{}, err
	}
	run, err := a.Store.ScriptRun(ctx, "", in.Run)
	if err != nil {
		return recipes.Recipe{}, err
	}
	if !who.Has(run.Profile) || !who.Administers(run.Owner) {
		return recipes.Recipe{}, notForRecipes(who)
	}
	r, err := recipes.Propose(run)
	r.Name = in.Name
	r.Description = in.Description
	if !rawjson.IsNull(in.Input) {
		r.Input = in.Input
	}
	if !rawjson.IsNull(in.Output) {
		r.Output = in.Output
	}
	return r, err
}

// SaveRecipe saves a run as a recipe, in place of an earlier one of its name.
func (a *API) SaveRecipe(ctx context.Context, who approval.Decider, in RecipeOrder) (Recipe, error) {
	r, err := a.ProposeRecipe(ctx, who, in)
	if err != nil {
		return Recipe{}, err
	}
	if name, why := r.Changed(a.Catalog.Definition); name != "" {
		return Recipe{}, fault.New(fault.Conflict, "since that run, %s %s", name, why).WithHint("run the script again, then save that run")
	}
	return a.putRecipe(ctx, who, r)
}

// ApproveRecipe pins a recipe to its tools as they are now.
func (a *API) ApproveRecipe(ctx context.Context, who approval.Decider, name string) (Recipe, error) {
	if !who.Administers("") {
		return Recipe{}, notForRecipes(who)
	}
	r, err := a.ReadRecipe(who.Principal, name)
	switch {
	case err != nil:
		return Recipe{}, err
	case r.State == RecipeBroken:
		return Recipe{}, fault.New(fault.Conflict, "the recipe %s cannot be read: %s", name, r.Reason).WithHint("delete it")
	}
	r.Recipe.Version = r.Version // another change that came first is a conflict
	return a.putRecipe(ctx, who, r.Recipe)
}

func (a *API) putRecipe(ctx context.Context, who approval.Decider, r recipes.Recipe) (Recipe, error) {
	r.By = who.Name
	r.At = time.Now().UTC().Truncate(time.Second)
	if err := r.Check(); err != nil {
		return Recipe{}, err
	}
	if err := r.Pin(a.Catalog.Definition); err != nil {
		return Recipe{}, err
	}
	if err := a.Recipes.SaveRecipe(ctx, r); err != nil {
		return Recipe{}, err
	}
	return a.ReadRecipe(who.Principal, r.Name)
}

// DeleteRecipe deletes a recipe.
func (a *API) DeleteRecipe(ctx context.Context, who approval.Decider, name string) error {
	if !who.Administers("") {
		return notForRecipes(who)
	}
	return a.Recipes.RemoveRecipe(ctx, name)
}

func (q *request) decider() approval.Decider { return approval.Decider{Principal: q.who} }

func (a *API) listRecipes(q *request) (any, error) {
	list, err := a.ListRecipes(q.who)
	return RecipeList{list}, err
}

func (a *API) readRecipe(q *request) (any, error) { return a.ReadRecipe(q.who, q.PathValue("name")) }

func (a *API) saveRecipe(q *request) (any, error) {
	var in RecipeOrder
	if err := q.decode(&in, `{"run", "name", "description", "input", "output"}`); err != nil {
		return nil, err
	}
	return a.SaveRecipe(q.Context(), q.decider(), in)
}

func (a *API) approveRecipe(q *request) (any, error) {
	return a.ApproveRecipe(q.Context(), q.decider(), q.PathValue("name"))
}

func (a *API) deleteRecipe(q *request) (any, error) {
	name := q.PathValue("name")
	return deleted{ID: name}, a.DeleteRecipe(q.Context(), q.decider(), name)
}
