package env

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// texts returns the environment's prompts and the added ones.
func (s *Server) texts(ctx context.Context) (all []Prompt, err error) {
	defer recovered(&err)
	all, err = ownPrompts(ctx, s.env)
	if err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	all = slices.Concat(all, s.prompts)
	return all, checkPrompts(all)
}

func (s *Server) listPrompts(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	if err := refuseCursor(req); err != nil {
		return nil, err
	}
	all, err := s.texts(ctx)
	if err != nil {
		return nil, s.clientError(err)
	}
	list := make([]json.RawMessage, len(all))
	for i, p := range all {
		list[i], err = p.Definition()
		if err != nil {
			return nil, s.clientError(err)
		}
	}
	return rawjson.Marshal(map[string]any{"prompts": list})
}

func (s *Server) getPrompt(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	all, err := s.texts(ctx)
	if err != nil {
		return nil, s.clientError(err)
	}
	id, _ := rawjson.String(rawjson.Get(req.Params, "name"))
	i := slices.IndexFunc(all, func(p Prompt) bool { return p.ID == id })
	if i < 0 {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "unknown prompt %.100q", id)
	}
	args, err := readTexts(rawjson.Get(req.Params, "arguments"))
	if err != nil {
		return nil, err
	}
	raw, err := all[i].Result(ctx, args)
	if err != nil {
		return nil, s.clientError(err)
	}
	return raw, nil
}

func readTexts(raw json.RawMessage) (map[string]string, error) {
	args := map[string]string{}
	if rawjson.IsNull(raw) {
		return args, nil
	}
	w := rawjson.Object(raw)
	for w.Next() {
		text, ok := rawjson.String(w.Value)
		if !ok {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "argument %.60q must be text", w.Key)
		}
		args[string(w.Key)] = text
	}
	if w.Err() != nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "arguments must be an object")
	}
	return args, nil
}
