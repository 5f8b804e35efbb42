package main

import (
	"context"
	"fmt"
	"io"
)

// flatPath is where the flat proxy of action recall takes calls of the upstream server.
const flatPath = "/api/agent-retrieval/in/v1/mcp/proxy/bench/tools/"

// flatGoal is the most CPU that a call by the flat proxy may take, as a ratio to the same
// call by MCP.
const flatGoal = 1.2

// flatOf is the scenario by the flat proxy.
func flatOf(s *scenario, args string) *scenario {
	flat := *s
	flat.name, flat.flat = s.name+" flat", args
	return &flat
}

// compareFlat drives one gateway by MCP and by the flat proxy in turns, and prints what a
// call of each costs.
func (o *options) compareFlat(ctx context.Context, l *lab, out io.Writer) error {
	t, err := l.gateway(ctx, legacy, legacy)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\n| by the flat proxy | CPU s/1k | by MCP | ratio | limit | |\n|---|--:|--:|--:|--:|---|")
	for _, pair := range [][2]*scenario{
		{flatOf(echo(), `{"message":"m`+number+`"}`), echo()},
		{flatOf(big(), `{}`), big()},
	} {
		results := [2]*result{{scenario: pair[0], target: t}, {scenario: pair[1], target: t}}
		for round := range 2 * o.rounds {
			r := results[(round+round/2)%2] // neither is always first
			run, err := o.once(ctx, l, t, r.scenario)
			if err != nil {
				return fmt.Errorf("%s: %w", r.scenario.name, err)
			}
			r.runs = append(r.runs, run)
		}
		flat, mcp := results[0].cpu(), results[1].cpu()
		verdict := "ok"
		if flat/mcp > flatGoal {
			verdict = "over"
		}
		fmt.Fprintf(out, "| %s | %.4f | %.4f | %.2f | %.2f | %s |\n", pair[1].name, flat, mcp, flat/mcp, flatGoal, verdict)
	}
	return nil
}
