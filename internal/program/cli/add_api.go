package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/openapi"
	"github.com/toolfit/toolfit/internal/gateway/httpapi"
	"github.com/toolfit/toolfit/internal/state/config"
)

// addedAPI is what add tells of an HTTP API.
type addedAPI struct {
	Added    string            `json:"added"`
	File     string            `json:"file"`
	Base     string            `json:"base,omitempty"` // where credentials go, as it was written
	Tools    int               `json:"tools"`
	Notes    []string          `json:"notes,omitempty"` // what its credentials lack
	Problems []openapi.Problem `json:"problems"`
}

// addAPI reads the API's description before it writes anything: a description that cannot
// be read is not worth an entry, and one with mistakes is shown with them.
func (c *command) addAPI(ctx context.Context, path string, s config.Server) error {
	defer c.waiting("reading the description")()
	answer := addedAPI{Added: string(s.ID), File: path, Problems: []openapi.Problem{}}
	api, err := httpapi.New(s, nil)
	if err != nil {
		return err
	}
	defer api.Close()
	if answer.Tools, err = api.Count(ctx); err != nil {
		return err
	}
	answer.Problems = append(answer.Problems, api.Problems()...)
	if s.API.Remote() && len(s.API.Auth) > 0 && s.API.Base == "" {
		if err := fixBase(ctx, api, s.API); err != nil {
			return err
		}
		answer.Base = s.API.Base
	}
	if s.API.Spec, err = specFrom(path, s.API.Spec); err != nil {
		return err
	}
	if err := config.AddServer(path, s); err != nil {
		return err
	}
	answer.Notes = append(api.Notes(), c.beforeStart(path, s)...)
	if c.json {
		return c.printJSON(answer)
	}
	fmt.Fprintf(c.env.Out, "added %s to %s: %d tools\n", s.ID, path, answer.Tools)
	if answer.Base != "" {
		fmt.Fprintf(c.env.Out, "its credentials go to %s, as the description says now; later it cannot move them\n", answer.Base)
	}
	for _, note := range answer.Notes {
		fmt.Fprintf(c.env.Err, "  note: %s\n", note)
	}
	if len(answer.Problems) > 0 {
		fmt.Fprintln(c.env.Err, "what is sound is used; wrong in the description:")
	}
	for _, p := range answer.Problems {
		fmt.Fprintf(c.env.Err, "  %s: %s\n", p.Pointer, p.Message)
	}
	return nil
}

// fixBase writes down where the credentials of an API go: a remote description may say
// something else tomorrow.
func fixBase(ctx context.Context, api *httpapi.API, cfg *config.API) (err error) {
	if cfg.Base, err = api.Base(ctx); err == nil && cfg.Base == "" {
		err = fault.New(fault.BadConfig, "the description names no address for all of its operations").
			WithHint("say with --base where the API is and its credentials go")
	}
	return err
}

// specFrom is the description's file as the configuration has to name it: from its own folder.
func specFrom(path, spec string) (string, error) {
	if strings.Contains(spec, "://") || filepath.IsAbs(spec) || filepath.Dir(path) == "." {
		return spec, nil
	}
	full, err := filepath.Abs(spec)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", spec, err)
	}
	return full, nil
}
