package env

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// ProtocolTools are the tools of the protocol that the options can serve, under the names
// that Options.Names asks for. They check their arguments themselves, so that any MCP server
// can carry them.
func ProtocolTools(opts *Options) ([]Tool, error) {
	o, err := opts.filled()
	if err != nil {
		return nil, err
	}
	tools, err := o.protocolTools()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(tools, func(t Tool) bool { return !o.lists(t.Name) }), nil
}

const (
	slashPrefix      = "env/"
	underscorePrefix = "env_"
)

// protocolTools are the tools under both names.
func (o *Options) protocolTools() ([]Tool, error) {
	var all []Tool
	for _, f := range o.offers() {
		t, err := fitted(Tool{
			Name: slashPrefix + f.name, Description: f.description, ReadOnly: !f.changes,
			InputSchema: json.RawMessage(f.input), OutputSchema: json.RawMessage(f.output), Call: f.run,
		})
		if err != nil {
			return nil, err
		}
		all = append(all, t)
		t.Name = underscorePrefix + f.name
		all = append(all, t)
	}
	return all, nil
}

// twin is the other name of a tool of the protocol; "" for any other tool.
func twin(name string) string {
	if rest, ok := strings.CutPrefix(name, slashPrefix); ok {
		return underscorePrefix + rest
	}
	if rest, ok := strings.CutPrefix(name, underscorePrefix); ok {
		return slashPrefix + rest
	}
	return ""
}

// lists tells whether a tool of the protocol is listed under the name.
func (o *Options) lists(name string) bool {
	return o.Names == NamesBoth || (o.Names == NamesSlash) == (name[:len(slashPrefix)] == slashPrefix)
}

// Host is an MCP server that an environment can be attached to. A Server is one; of another
// server it takes a type that adds what Definition shows, and answers with Result.
type Host interface {
	AddTool(t Tool) error
	AddPrompt(p Prompt) error
}

// Attach adds an environment to an MCP server that exists: the tools of the protocol, the
// environment's own tools as they are now, and its prompts. Options.Agent filters the tools.
// A host that calls only what it lists knows each tool of the protocol by the one name that
// Options.Names chooses; a Server takes both.
func Attach(ctx context.Context, host Host, e Environment, opts *Options) error {
	o, err := Derive(e, Meta{}, opts)
	if err != nil {
		return err
	}
	tools, err := ProtocolTools(o)
	if err != nil {
		return err
	}
	own, err := ownTools(ctx, e)
	if err == nil {
		own, err = o.allowed(ctx, own, o.Agent)
	}
	if err != nil {
		return err
	}
	for _, t := range own {
		t, err := fitted(t)
		if err != nil {
			return err
		}
		tools = append(tools, t)
	}
	for _, t := range tools {
		if err := host.AddTool(t); err != nil {
			return fmt.Errorf("attach tool %s: %w", t.Name, err)
		}
	}
	prompts, err := ownPrompts(ctx, e)
	if err != nil {
		return err
	}
	for _, p := range prompts {
		if err := host.AddPrompt(p); err != nil {
			return fmt.Errorf("attach prompt %s: %w", p.ID, err)
		}
	}
	return nil
}

// ownTools are the tools of the environment, checked.
func ownTools(ctx context.Context, e Environment) ([]Tool, error) {
	if e == nil {
		return nil, nil
	}
	all, err := e.Tools(ctx)
	if err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	for _, t := range all {
		if err := checkTool(t); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// allowed are the tools that each of the agents may use; an agent without an id may use all.
func (o *Options) allowed(ctx context.Context, tools []Tool, agents ...string) ([]Tool, error) {
	for _, id := range agents {
		if id == "" {
			continue
		}
		agent, err := o.agent(ctx, id)
		if err != nil {
			return nil, err
		}
		tools = slices.DeleteFunc(slices.Clone(tools), func(t Tool) bool { return !agent.May(t.Name) })
	}
	return tools, nil
}

func ownPrompts(ctx context.Context, e Environment) ([]Prompt, error) {
	if e == nil {
		return nil, nil
	}
	all, err := e.Prompts(ctx)
	if err != nil {
		return nil, fmt.Errorf("prompts: %w", err)
	}
	return all, checkPrompts(all)
}
