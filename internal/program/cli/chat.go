package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/entrance/chatapi"
)

func (c *command) chat() *cobra.Command {
	var flags askFlags
	var session string
	var show bool
	cmd := &cobra.Command{
		Use:   "chat AGENT [MESSAGE]",
		Short: "Chat with an agent and see its tool calls",
		Long: "Chat with an agent and see its tool calls. Without a message, each line of standard input is one.\n" +
			"Answers go to standard output, everything else to standard error.\n\n" +
			"--show-prompt prints the system prompt and the tools as they are sent to the model; without a message, only that.",
		Example: `  toolfit chat helper "How are the paid orders?"
  toolfit chat helper --continue ses_…
  toolfit chat helper --show-prompt`,
		Args: takes(1, -1, "the id of an agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				t := &talk{command: c, gateway: g, agent: args[0], session: session}
				if show {
					to := c.env.Out
					if len(args) > 1 { // standard output is for the answer
						to = c.env.Err
					}
					if err := t.showPrompt(cmd.Context(), to); err != nil || len(args) == 1 {
						return err
					}
				}
				if len(args) > 1 {
					return t.send(cmd.Context(), strings.Join(args[1:], " "))
				}
				return t.converse(cmd.Context())
			})
		},
	}
	flags.addGateway(cmd)
	cmd.Flags().StringVar(&session, "continue", "", "continue this session")
	cmd.Flags().BoolVar(&show, "show-prompt", false, "print the system prompt and the tools")
	return cmd
}

type talk struct {
	*command
	gateway *gateway
	agent   string
	session string
	midLine bool // the last output did not end with a line break
}

func (t *talk) showPrompt(ctx context.Context, to io.Writer) error {
	defer t.waitingForServers(ctx, t.gateway)()
	var q url.Values
	if t.session != "" {
		q = url.Values{"session": {t.session}}
	}
	var p agent.Prompt
	if err := t.gateway.do(ctx, request{path: "/agents/" + url.PathEscape(t.agent) + "/prompt", query: q}, &p); err != nil {
		return err
	}
	if t.json {
		return printJSON(to, p)
	}
	fmt.Fprintf(to, "%s\n\n%s\n", t.word("System prompt:"), p.System)
	if p.Tools == nil {
		return nil
	}
	fmt.Fprintf(to, "\n%s\n\n", t.word("Tools:"))
	return printJSON(to, p.Tools)
}

func (t *talk) converse(ctx context.Context) error {
	next := t.lines()
	for {
		fmt.Fprint(t.env.Err, "> ")
		line, err := next(ctx)
		if errors.Is(err, io.EOF) {
			fmt.Fprintln(t.env.Err)
			return nil
		}
		if err == nil && strings.TrimSpace(line) != "" {
			err = t.send(ctx, line)
		}
		if err != nil {
			return err
		}
	}
}

// lines returns a function that reads the next line of the input; io.EOF at its end. A read
// that waits for a person only ends with the process.
func (c *command) lines() func(context.Context) (string, error) {
	lines := make(chan string)
	ended := make(chan error, 1)
	go func() {
		in := bufio.NewScanner(c.env.In)
		in.Buffer(nil, maxLine)
		for in.Scan() {
			lines <- in.Text()
		}
		ended <- cmp.Or(in.Err(), io.EOF)
	}()
	return func(ctx context.Context) (string, error) {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case line := <-lines:
			return line, nil
		case err := <-ended:
			return "", err
		}
	}
}

// maxLine is the longest line: a message, or an event of an answer.
const maxLine = 32 << 20

// send sends a message and shows the answer as it comes.
func (t *talk) send(ctx context.Context, text string) error {
	ask := map[string]any{"model": t.agent, "stream": !t.json, "messages": []conversation.Message{conversation.Text(conversation.RoleUser, text)}}
	if t.session != "" {
		ask["metadata"] = map[string]string{chatapi.SessionKey: t.session}
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	resp, err := t.gateway.open(ctx, http.MethodPost, t.gateway.base+"/v1/chat/completions",
		http.Header{"Content-Type": {"application/json"}}, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(resp.Body) // as far as it can be read
		return chatError(t.gateway.base, resp.StatusCode, data)
	}
	if session := resp.Header.Get(chatapi.SessionHeader); session != "" {
		t.session = session
	}
	if t.json {
		return t.showWhole(resp.Body)
	}
	return t.show(resp.Body)
}

func (t *talk) showWhole(body io.Reader) error {
	var answer json.RawMessage
	if err := json.NewDecoder(body).Decode(&answer); err != nil {
		return fault.New(fault.UpstreamProtocol, "%s is not a toolfit gateway", t.gateway.base)
	}
	return t.printJSON(answer)
}

func chatError(base string, status int, data []byte) error {
	var body struct {
		Error *struct{ Message, Code string } `json:"error"`
	}
	if err := json.Unmarshal(data, &body); err != nil || body.Error == nil || body.Error.Message == "" {
		return fault.New(fault.UpstreamProtocol, "%s answered HTTP %d: %.200s", base, status, bytes.TrimSpace(data))
	}
	f := fault.New(fault.Code(body.Error.Code), "%s", body.Error.Message)
	if status == http.StatusNotFound {
		f.Code = fault.NotFound
	}
	if body.Error.Code == "model_not_found" {
		f = f.WithHint("list the agents with: toolfit env agents; add one under agents: in toolfit.yaml")
	}
	return f
}

type chunk struct {
	Choices []struct {
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
	} `json:"choices"`
	Toolfit *chatapi.Extra  `json:"toolfit"`
	Error   json.RawMessage `json:"error"`
}

func (t *talk) show(body io.Reader) error {
	events := bufio.NewScanner(body)
	events.Buffer(nil, maxLine)
	for events.Scan() {
		data, ok := strings.CutPrefix(events.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			t.showSession()
			return nil
		}
		var c chunk
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			return fault.New(fault.UpstreamProtocol, "%s is not a toolfit gateway", t.gateway.base)
		}
		if c.Error != nil {
			t.showSession()
			return chatError(t.gateway.base, http.StatusOK, []byte(data))
		}
		t.showChunk(&c)
	}
	t.endLine()
	if err := events.Err(); err != nil {
		return fmt.Errorf("read the answer of %s: %w", t.gateway.base, err)
	}
	return fault.New(fault.UpstreamProtocol, "the answer is incomplete").
		WithHint("continue with: toolfit chat %s --continue %s", t.agent, t.session)
}

func (t *talk) showChunk(c *chunk) {
	for _, choice := range c.Choices {
		text := choice.Delta.Content
		if !t.midLine { // after the line of a call
			text = strings.TrimLeft(text, "\n")
		}
		if text != "" {
			fmt.Fprint(t.env.Out, text)
			t.midLine = !strings.HasSuffix(text, "\n")
		}
	}
	if c.Toolfit == nil {
		return
	}
	if call := c.Toolfit.Call; call != nil {
		t.endLine()
		fmt.Fprintln(t.env.Err, "  "+t.callLine(call))
	}
	if c.Toolfit.Limit != "" {
		t.endLine()
		t.tell("  stopped by a limit: %s\n", t.translate(c.Toolfit.Limit))
	}
}

// showSession prints the session, with which the chat can be continued, also after an error.
func (t *talk) showSession() {
	t.endLine()
	if t.session != "" {
		t.tell("  session %s\n", t.session)
	}
}

func (t *talk) endLine() {
	if t.midLine {
		fmt.Fprintln(t.env.Out)
	}
	t.midLine = false
}

func (t *talk) callLine(r *agent.Report) string {
	switch r.Status {
	case conversation.Running:
		return fmt.Sprintf("→ %s %s", r.Tool, shorten(string(r.Arguments)))
	case conversation.Success:
		return t.lang.Sprintf("✓ %s, %d ms, %d characters", r.Tool, r.DurationMS, len([]rune(r.Result)))
	case conversation.Skipped:
		return fmt.Sprintf("– %s: %s", r.Tool, shorten(t.translate(r.Error)))
	}
	return fmt.Sprintf("✗ %s: %s", r.Tool, shorten(t.translate(r.Error)))
}

func shorten(text string) string {
	return visible.Beginning(strings.Join(strings.Fields(text), " "), 160)
}
