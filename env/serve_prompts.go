package env

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/rawjson"
)

// texts are the prompts of the environment and those that were added.
func (s *Server) texts(ctx context.Context) (all []Prompt, err error) {
	defer recovered(&err)
	all, err = ownPrompts(ctx, s.env)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Concat(all, s.prompts), err
}

func (s *Server) listPrompts(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	if err := refuseCursor(req); err != nil {
		return nil, err
	}
	all, err := s.texts(ctx)
	if err != nil {
		return nil, s.told(err)
	}
	type shown struct {
		Name        string           `json:"name"`
		Title       string           `json:"title,omitempty"`
		Description string           `json:"description,omitempty"`
		Arguments   []PromptArgument `json:"arguments,omitempty"`
	}
	list := make([]shown, 0, len(all))
	for _, p := range all {
		list = append(list, shown{p.ID, p.Title, p.Description, p.Arguments})
	}
	return encode(map[string]any{"prompts": list})
}

func (s *Server) getPrompt(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	all, err := s.texts(ctx)
	if err != nil {
		return nil, s.told(err)
	}
	id, _ := rawjson.String(rawjson.Get(req.Params, "name"))
	i := slices.IndexFunc(all, func(p Prompt) bool { return p.ID == id })
	if i < 0 {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "unknown prompt %.100q", id)
	}
	p := all[i]
	args, err := promptArgs(p, rawjson.Get(req.Params, "arguments"))
	if err != nil {
		return nil, err
	}
	text, err := p.render(ctx, args)
	if err != nil {
		return nil, s.told(err)
	}
	message := map[string]any{"role": "user", "content": block{"text", text}}
	answer := map[string]any{"messages": []any{message}}
	if p.Description != "" {
		answer["description"] = p.Description
	}
	return encode(answer)
}

func (p Prompt) render(ctx context.Context, args map[string]string) (text string, err error) {
	defer recovered(&err)
	if p.Render == nil {
		return p.Text, nil
	}
	return p.Render(ctx, args)
}

// promptArgs reads the arguments of a prompt: texts, the required ones, and no others.
func promptArgs(p Prompt, raw json.RawMessage) (map[string]string, error) {
	args := map[string]string{}
	if !rawjson.IsNull(raw) {
		w := rawjson.Object(raw)
		for w.Next() {
			name := string(w.Key)
			text, ok := rawjson.String(w.Value)
			if !ok {
				return nil, mcp.Errorf(mcp.CodeInvalidParams, "prompt %s: argument %.60q must be text", p.ID, name)
			}
			if !slices.ContainsFunc(p.Arguments, func(a PromptArgument) bool { return a.Name == name }) {
				return nil, mcp.Errorf(mcp.CodeInvalidParams, "prompt %s has no argument %.60q", p.ID, name)
			}
			args[name] = text
		}
		if w.Err() != nil {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "prompt %s: arguments must be an object", p.ID)
		}
	}
	for _, a := range p.Arguments {
		if _, given := args[a.Name]; a.Required && !given {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "prompt %s needs the argument %s", p.ID, a.Name)
		}
	}
	return args, nil
}
