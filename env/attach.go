package env

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// ProtocolTools returns the protocol's tools that the options can serve, under the names of
// Options.Names. They check their own arguments, so any MCP server can host them.
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

// protocolTools returns the tools under both names.
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

// twin is the other name of a protocol tool; "" for other tools.
func twin(name string) string {
	if rest, ok := strings.CutPrefix(name, slashPrefix); ok {
		return underscorePrefix + rest
	}
	if rest, ok := strings.CutPrefix(name, underscorePrefix); ok {
		return slashPrefix + rest
	}
	return ""
}

// lists tells whether a protocol tool is listed under the name.
func (o *Options) lists(name string) bool {
	return o.Names == NamesBoth || (o.Names == NamesSlash) == (name[:len(slashPrefix)] == slashPrefix)
}

// Host is an MCP server that an environment can be attached to, such as a Server. Other servers
// need an adapter that lists Definition and answers with Result.
type Host interface {
	AddTool(t Tool) error
	AddPrompt(p Prompt) error
}

// Attach adds an environment to an existing MCP server: the protocol's tools, the environment's
// current tools, filtered by Options.Agent, and its prompts. A host that calls only listed tools
// knows protocol tools by the name that Options.Names chooses; a Server knows both. Only a Server runs
// tools as tasks.
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

// ownTools returns the environment's tools, checked.
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

// allowed returns the tools that all of the agents may use; an empty id allows all.
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
