package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// TestClientIsAskedByItsOwnProcess: on a pipe nothing says whose call a question belongs
// to, so only a process of one client asks.
func TestClientIsAskedByItsOwnProcess(t *testing.T) {
	node := testparts.Need(t)
	server := strings.TrimSuffix(entry(node.Command("mcp-server-everything", "stdio")), "}")
	g := serve(t, write(t, lines("mcpServers:", "  own: "+server+`,"isolation":"session"}`, "  shared: "+server+"}")))
	asked := make(chan string, 10)
	s := connect(t, overHTTP(g), sampling("sampled here", &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked <- r.Params.Message
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
	}))
	all := names(t, s)
	if !slices.Contains(all, "own__trigger-elicitation-request") || slices.Contains(all, "shared__trigger-elicitation-request") {
		t.Errorf("listed: %v", all)
	}
	if text := callText(t, s, "own__trigger-elicitation-request", map[string]any{}); !strings.Contains(text, "declined") || len(asked) != 1 {
		t.Errorf("the server heard %q; asked %d times", text, len(asked))
	} else if message := <-asked; !strings.HasPrefix(message, "[server own] ") {
		t.Errorf("the person is asked %q", message)
	}
	if text := callText(t, s, "own__trigger-sampling-request", map[string]any{"prompt": "p"}); !strings.Contains(text, "sampled here") {
		t.Errorf("the server heard %q", text)
	}
}

// TestPromptsAndResourcesOfSeveralServers: prompts have prefixed names, URIs stay.
func TestPromptsAndResourcesOfSeveralServers(t *testing.T) {
	node := testparts.Need(t)
	updates := make(chan string, 100)
	g := serve(t, write(t, lines("mcpServers:",
		"  everything: "+entry(node.Command("mcp-server-everything", "stdio")),
		"  odd: "+fake("raw"),
	)))
	s := connect(t, overHTTP(g), &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { updates <- r.Params.URI },
	})
	names(t, s) // waits for the first listing
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	prompts, err := s.ListPrompts(ctx, nil)
	if err != nil || !slices.ContainsFunc(prompts.Prompts, func(p *mcp.Prompt) bool { return p.Name == "everything__simple-prompt" }) {
		t.Fatalf("prompts: %+v, %v", prompts, err)
	}
	got, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: "everything__simple-prompt"})
	if err != nil || len(got.Messages) == 0 {
		t.Errorf("prompt: %+v, %v", got, err)
	}
	resources, err := s.ListResources(ctx, nil)
	if err != nil || len(resources.Resources) == 0 {
		t.Fatalf("resources: %+v, %v", resources, err)
	}
	for _, uri := range []string{resources.Resources[0].URI, "demo://resource/dynamic/text/7"} { // listed; of a template
		if read, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri}); err != nil || len(read.Contents) == 0 {
			t.Errorf("%s: %+v, %v", uri, read, err)
		}
	}
	if _, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "nobody://has/this"}); err == nil {
		t.Error("a resource of nobody was read")
	}
	if err := s.Subscribe(ctx, &mcp.SubscribeParams{URI: "demo://resource/dynamic/text/7"}); err != nil {
		t.Fatal(err)
	}
	callText(t, s, "everything__toggle-subscriber-updates", map[string]any{})
	select {
	case uri := <-updates:
		if uri != "demo://resource/dynamic/text/7" {
			t.Errorf("updated: %s", uri)
		}
	case <-ctx.Done():
		t.Error("no update came")
	}
}
