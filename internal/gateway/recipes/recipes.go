// Package recipes makes tools of scripts that worked: a person gives a run of a script a name, a description and a schema, and
// callers find it as recipes__NAME. A recipe is pinned to the definitions of the tools that its run called; when one of them
// changes, the recipe is held until a person approves it again. This package never stores, runs or approves anything itself.
//
//	r, err := recipes.Propose(run)
//	r.Name, r.Description = "late_orders", "Orders that are late, by customer."
//	err = r.Pin(cat.Definition)
//	def := r.Definition()
package recipes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Recipe is a script as a tool.
type Recipe struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Code        string          `json:"code"`
	Input       json.RawMessage `json:"input"`            // the schema of its arguments
	Output      json.RawMessage `json:"output,omitempty"` // the schema of its results; nil: not known
	Tools       []catalog.Used  `json:"tools"`            // pinned
	Hints       Hints           `json:"hints"`
	Run         string          `json:"run"` // it was saved from
	By          string          `json:"by"`  // who saved or approved it last
	At          time.Time       `json:"at"`

	Version int64 `json:"-"` // of its row
}

// Hints are its annotations, which follow from those of its tools.
type Hints struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// Look finds a tool's definition as it is now; false: the tool is gone.
type Look func(tool.Name) (tool.Definition, bool)

const (
	maxDescription = 2000
	maxSchema      = 64 << 10
)

var validName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,40}$`)

// Parse reads a recipe of the store.
func Parse(row store.Document) (r Recipe, err error) {
	if err := json.Unmarshal(row.Body, &r); err != nil {
		return r, err
	}
	r.Version = row.Version
	return r, r.Check()
}

// Check tells what is wrong with what a person wrote.
func (r *Recipe) Check() error {
	switch {
	case !validName.MatchString(r.Name):
		return fault.New(fault.BadRequest, "%.100q is not a name for a recipe", r.Name).
			WithHint("use up to 41 small letters, digits and underscores, with a letter first, such as late_orders")
	case strings.TrimSpace(r.Description) == "" || len(r.Description) > maxDescription || !utf8.ValidString(r.Description):
		return fault.New(fault.BadRequest, "a recipe needs a description of at most %d bytes", maxDescription).
			WithHint("say what it does and when to use it: models choose it by that")
	case r.Code == "":
		return fault.New(fault.BadRequest, "a recipe needs a script")
	}
	if err := checkSchema("input", r.Input); err != nil {
		return err
	}
	if r.Output == nil {
		return nil
	}
	return checkSchema("output", r.Output)
}

func checkSchema(what string, schema json.RawMessage) error {
	kind, _ := rawjson.String(rawjson.Get(schema, "type"))
	if len(schema) > maxSchema || rawjson.Check(schema) != nil || kind != "object" {
		return fault.New(fault.BadRequest, "%s is not a JSON Schema of an object", what).
			WithHint(`such as {"type": "object", "properties": {"status": {"type": "string"}}}`)
	}
	return nil
}

// Hash names the script.
func (r *Recipe) Hash() string {
	sum := sha256.Sum256([]byte(r.Code))
	return hex.EncodeToString(sum[:])
}

// Tool is its name among all tools.
func (r *Recipe) Tool() tool.Name { return tool.Canonical(catalog.Recipes, r.Name) }

// Changed is the first of its tools that is not as it was pinned, and what it is now; "" if there is none.
func (r *Recipe) Changed(look Look) (name tool.Name, why string) {
	for _, t := range r.Tools {
		def, ok := look(t.Name)
		switch {
		case !ok:
			return t.Name, "is gone"
		case tool.Hash(def.Raw) != t.Hash:
			return t.Name, "has another definition now"
		}
	}
	return "", ""
}

// Pin pins the tools as they are now, with what recipes among them use, and derives the hints.
func (r *Recipe) Pin(look Look) error {
	pinned := []catalog.Used{}
	hints := Hints{ReadOnly: true, Idempotent: true}
	for left := slices.Clone(r.Tools); len(left) > 0; left = left[1:] {
		name := left[0].Name
		if slices.ContainsFunc(pinned, func(u catalog.Used) bool { return u.Name == name }) {
			continue
		}
		def, ok := look(name)
		switch {
		case name == r.Tool():
			return fault.New(fault.Conflict, "the recipe %s would call itself", r.Name).WithHint("choose another name")
		case !ok:
			return fault.New(fault.Conflict, "%s, which the script calls, is gone", name).WithHint("delete the recipe, or bring the tool back")
		}
		server, _, _ := name.Split()
		t := (&catalog.Entry{Name: name, Server: server, Definition: def}).PolicyTool()
		hints.ReadOnly = hints.ReadOnly && t.ReadOnly
		hints.Destructive = hints.Destructive || t.Destructive && !t.ReadOnly
		hints.Idempotent = hints.Idempotent && t.Idempotent
		hints.OpenWorld = hints.OpenWorld || t.OpenWorld
		pinned = append(pinned, catalog.Used{Name: name, Hash: tool.Hash(def.Raw)})
		left = append(left, catalog.RecipeUses(def)...)
	}
	r.Tools = pinned
	r.Hints = hints
	return nil
}

// Definition is the recipe as tools/list has it.
func (r *Recipe) Definition() json.RawMessage {
	def := struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Input       json.RawMessage `json:"inputSchema"`
		Output      json.RawMessage `json:"outputSchema,omitempty"`
		Hints       Hints           `json:"annotations"`
		Meta        map[string]any  `json:"_meta"`
	}{r.Name, r.Description, r.Input, r.Output, r.Hints, map[string]any{
		catalog.RecipeMeta: map[string]any{"version": r.Version, "hash": r.Hash(), "tools": r.Tools},
	}}
	return rawjson.Encode(def)
}

// Handler is the built-in server that lists recipes. Calls do not get here: they run scripts.
func Handler(list func() []Recipe) mcp.Handler { return handler(list) }

type handler func() []Recipe

func (h handler) Serve(_ context.Context, r *mcp.Request) (json.RawMessage, error) {
	if r.Method != "tools/list" {
		return nil, fault.New(fault.BadRequest, "recipes are run by the gateway itself, and %s is not for them", r.Method)
	}
	tools := []json.RawMessage{}
	for _, one := range h() {
		tools = append(tools, one.Definition())
	}
	return rawjson.Encode(map[string]any{"tools": tools}), nil
}
