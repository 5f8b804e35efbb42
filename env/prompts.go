package env

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

func checkPrompts(all []Prompt) error {
	for i, p := range all {
		switch {
		case p.ID == "":
			return fmt.Errorf("prompt %d of %d has no ID", i+1, len(all))
		case slices.ContainsFunc(all[:i], func(other Prompt) bool { return other.ID == p.ID }):
			return fmt.Errorf("there are two prompts with the ID %s", p.ID)
		}
	}
	return nil
}

// Definition returns the prompt for prompts/list.
func (p Prompt) Definition() (json.RawMessage, error) {
	return rawjson.Marshal(struct {
		Name        string           `json:"name"`
		Title       string           `json:"title,omitempty"`
		Description string           `json:"description,omitempty"`
		Arguments   []PromptArgument `json:"arguments,omitempty"`
	}{p.ID, p.Title, p.Description, p.Arguments})
}

// Result renders the prompt as a result of prompts/get. Unknown and missing arguments are errors.
func (p Prompt) Result(ctx context.Context, args map[string]string) (json.RawMessage, error) {
	if err := p.check(args); err != nil {
		return nil, err
	}
	text, err := p.text(ctx, args)
	if err != nil {
		return nil, err
	}
	type message struct {
		Role    string `json:"role"`
		Content block  `json:"content"`
	}
	return rawjson.Marshal(struct {
		Description string    `json:"description,omitempty"`
		Messages    []message `json:"messages"`
	}{p.Description, []message{{"user", block{"text", text}}}})
}

// argumentsError says that arguments of a prompt are wrong.
type argumentsError struct{ problem string }

func (e *argumentsError) Error() string { return e.problem }

func (p Prompt) check(args map[string]string) error {
	for name := range args {
		if !slices.ContainsFunc(p.Arguments, func(a PromptArgument) bool { return a.Name == name }) {
			return &argumentsError{fmt.Sprintf("prompt %s has no argument %.60q", p.ID, name)}
		}
	}
	for _, a := range p.Arguments {
		if _, given := args[a.Name]; a.Required && !given {
			return &argumentsError{fmt.Sprintf("prompt %s needs the argument %s", p.ID, a.Name)}
		}
	}
	return nil
}

func (p Prompt) text(ctx context.Context, args map[string]string) (text string, err error) {
	defer recovered(&err)
	if p.Render == nil {
		return p.Text, nil
	}
	return p.Render(ctx, args)
}
