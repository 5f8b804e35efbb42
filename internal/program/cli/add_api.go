package cli

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/openapi"
	"github.com/toolfit/toolfit/internal/gateway/httpapi"
	"github.com/toolfit/toolfit/internal/state/config"
)

type addedAPI struct {
	Added    string            `json:"added"`
	File     string            `json:"file"`
	Base     string            `json:"base,omitempty"` // where credentials are sent
	Tools    int               `json:"tools"`
	Notes    []string          `json:"notes,omitempty"` // what is missing before it works
	Problems []openapi.Problem `json:"problems"`
}

// addAPI reads the API's document before it adds anything, and lists problems in the document.
func (c *command) addAPI(ctx context.Context, path string, s config.Server) error {
	p := c.progress()
	defer p.End()
	p.Say("reading the document")
	answer := addedAPI{Added: string(s.ID), File: path, Problems: []openapi.Problem{}}
	api, err := httpapi.New(s, &httpapi.Options{Fetch: func(by http.RoundTripper) http.RoundTripper { return downloads{by, p} }})
	if err != nil {
		return err
	}
	defer api.Close()
	answer.Tools, err = api.Count(ctx)
	if err != nil {
		return err
	}
	answer.Problems = append(answer.Problems, api.Problems()...)
	if s.API.Remote() && len(s.API.Auth) > 0 && s.API.Base == "" {
		if err := fixBase(ctx, api, s.API); err != nil {
			return err
		}
		answer.Base = s.API.Base
	}
	s.API.Spec, err = specFrom(path, s.API.Spec)
	if err != nil {
		return err
	}
	if err := config.AddServer(path, s); err != nil {
		return err
	}
	answer.Notes = append(api.Notes(), c.beforeStart(path, s)...)
	if c.json {
		return c.printJSON(answer)
	}
	c.say("added %s to %s: %d tools\n", s.ID, path, answer.Tools)
	if answer.Base != "" {
		c.say("credentials are sent to %s, the address in the document now; later changes do not count\n", answer.Base)
	}
	c.note("  ", answer.Notes)
	if len(answer.Problems) > 0 {
		c.tell("problems in the document (everything else is used):\n")
	}
	for _, p := range answer.Problems {
		c.tell("  %s: %s\n", p.Pointer, c.translate(p.Message))
	}
	return nil
}

// fixBase stores the address for the credentials of an API: a remote document may change.
func fixBase(ctx context.Context, api *httpapi.API, cfg *config.API) (err error) {
	cfg.Base, err = api.Base(ctx)
	if err == nil && cfg.Base == "" {
		err = fault.New(fault.BadConfig, "the document has no single address for all operations").
			WithHint("give the address of the API with --base")
	}
	return err
}

// specFrom is the path of the document as the configuration needs it: from the configuration's folder.
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
