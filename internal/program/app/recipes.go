package app

import (
	"context"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/recipes"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/overlay"
	"github.com/toolfit/toolfit/internal/state/store"
)

// recipeKind is the overlay of recipes. The file has none.
func recipeKind(st *store.Store) overlay.Kind[recipes.Recipe] {
	unknown := func(name string) error {
		return fault.New(fault.NotFound, "there is no recipe %.100q", name).WithHint("see: toolfit recipes")
	}
	return overlay.Kind[recipes.Recipe]{
		Name: "recipe", ID: func(r recipes.Recipe) string { return r.Name }, Rows: st.Recipes, Delete: st.DeleteRecipe,
		Parse:  func(row store.Document, _ *config.Config) (recipes.Recipe, error) { return recipes.Parse(row) },
		InFile: unknown, NotStored: unknown, Unknown: unknown,
	}
}

// recipeServers is the server that lists the recipes, if there are some. It comes last: the catalog needs the tools of the others first.
func recipeServers(list []recipes.Recipe) []config.Server {
	if len(list) == 0 {
		return nil
	}
	return []config.Server{config.RecipeServer()}
}

// Recipes returns all recipes.
func (s *settings) Recipes() []overlay.Entry[recipes.Recipe] { return s.recipes.Entries() }

// usableRecipes are those that can be read.
func (s *settings) usableRecipes() (list []recipes.Recipe) {
	for _, e := range s.recipes.Entries() {
		if e.Problem == "" {
			list = append(list, e.Value)
		}
	}
	return list
}

// recipe is the script of a recipe that was listed.
func (a *App) recipe(_ context.Context, e *catalog.Entry) (code string, err error) {
	found := a.recipes.Find(e.Definition.Name)
	if found == nil || found.Problem != "" {
		return "", fault.New(fault.NotFound, "the recipe %s is gone", e.Definition.Name)
	}
	if !tool.Same(found.Value.Definition(), e.Definition.Raw) {
		return "", fault.New(fault.Conflict, "the recipe %s has just been changed", e.Definition.Name).
			WithHint("list the tools again, then call it")
	}
	return found.Value.Code, nil
}

// SaveRecipe stores a recipe and lists it. A version other than 0 replaces only that one.
func (a *App) SaveRecipe(ctx context.Context, r recipes.Recipe) error {
	if err := r.Check(); err != nil {
		return err
	}
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	a.reloading.Lock()
	defer a.reloading.Unlock()
	if _, err := a.Store.SaveRecipe(ctx, store.Document{ID: r.Name, Version: r.Version, Body: body}); err != nil {
		return err
	}
	_, err = a.recipesChanged(ctx)
	return err
}

// RemoveRecipe deletes a recipe.
func (a *App) RemoveRecipe(ctx context.Context, name string) error {
	_, err := a.remove(ctx, name, a.recipes.Delete, a.recipesChanged)
	return err
}

// recipesChanged lists what was changed here. The caller holds reloading.
func (a *App) recipesChanged(ctx context.Context) (changed []string, err error) {
	changed, err = a.refresh(ctx, a.recipes.Read)
	if err != nil || len(a.usableRecipes()) == 0 {
		return changed, err
	}
	return changed, a.Catalog.Refresh(ctx, catalog.Recipes)
}

// recipesFollowed lists what others have changed, unless they have listed it. The caller holds reloading.
func (a *App) recipesFollowed(ctx context.Context) (changed []string, err error) {
	changed, err = a.refresh(ctx, a.recipes.Read)
	if len(changed) > 0 {
		a.Catalog.Changed(catalog.Recipes)
	}
	return changed, err
}
