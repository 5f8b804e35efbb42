package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/chatapi"
)

func (c *command) chat() *cobra.Command {
	var flags askFlags
	var session string
	var show bool
	cmd := &cobra.Command{
		Use:   "chat AGENT [MESSAGE]",
		Short: "Talk with an agent and see what it calls",
		Long: "Talk with an agent and see what it calls. With a message it answers that and ends; without one it reads a message from each line.\n" +
			"Answers go to standard output, all else to standard error.\n\n" +
			"With --show-prompt it prints the system prompt and the tools as the model is sent them: without a message on standard output, and ends.",
		Example: `  toolfit chat helper "How are the paid orders?"
  toolfit chat helper --continue ses_…
  toolfit chat helper --show-prompt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("chat takes the id of an agent; see agents in the configuration")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				t := &talk{command: c, gateway: g, agent: args[0], session: session}
				if show {
					to := c.env.Out
					if len(args) > 1 { // which is for the answer
						to = c.env.Err
					}
					if err := t.showPrompt(cmd.Context(), to); err != nil || len(args) == 1 {
						return err
					}
				}
				if len(args) > 1 {
					return t.say(cmd.Context(), strings.Join(args[1:], " "))
				}
				return t.converse(cmd.Context())
			})
		},
	}
	flags.addGateway(cmd)
	cmd.Flags().StringVar(&session, "continue", "", "go on with this session")
	cmd.Flags().BoolVar(&show, "show-prompt", false, "print what the model is sent before the message; without a message, only that")
	return cmd
}

// talk is a conversation in the terminal.
type talk struct {
	*command
	gateway *gateway
	agent   string
	session string
	midLine bool // the last answer's text has no line break yet
}

// showPrompt prints what the model is sent before what is said.
func (t *talk) showPrompt(ctx context.Context, to io.Writer) error {
	defer t.waiting("asking the servers")()
	var q url.Values
	if t.session != "" {
		q = url.Values{"session": {t.session}}
	}
	var p agent.Prompt
	if err := t.gateway.do(ctx, http.MethodGet, "/agents/"+url.PathEscape(t.agent)+"/prompt", q, nil, &p); err != nil {
		return err
	}
	if t.json {
		return printJSON(to, p)
	}
	fmt.Fprintf(to, "System prompt:\n\n%s\n", p.System)
	if p.Tools == nil {
		return nil
	}
	fmt.Fprint(to, "\nTools:\n\n")
	return printJSON(to, p.Tools)
}

// converse reads a message from each line and answers it, until the input ends.
func (t *talk) converse(ctx context.Context) error {
	lines := make(chan string)
	ended := make(chan error, 1)
	go func() { // a read that waits for a person ends with the process
		in := bufio.NewScanner(t.env.In)
		in.Buffer(nil, maxLine)
		for in.Scan() {
			select {
			case lines <- in.Text():
			case <-ctx.Done():
				return
			}
		}
		ended <- in.Err()
	}()
	for {
		fmt.Fprint(t.env.Err, "> ")
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			fmt.Fprintln(t.env.Err)
			return err
		case line := <-lines:
			if strings.TrimSpace(line) == "" {
				continue
			}
			if err := t.say(ctx, line); err != nil {
				return err
			}
		}
	}
}

// maxLine bounds one line: a message, or an event of an answer.
const maxLine = 32 << 20

// say sends a message and shows the answer as it comes.
func (t *talk) say(ctx context.Context, text string) error {
	ask := map[string]any{"model": t.agent, "stream": !t.json, "messages": []conversation.Message{conversation.Text(conversation.RoleUser, text)}}
	if t.session != "" {
		ask["metadata"] = map[string]string{chatapi.SessionKey: t.session}
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.gateway.base+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return usage("%q is no URL", t.gateway.base)
	}
	req.Header.Set("Content-Type", "application/json")
	if t.gateway.key != "" {
		req.Header.Set("Authorization", "Bearer "+t.gateway.key)
	}
	resp, err := t.gateway.http.RoundTrip(req)
	if err != nil {
		return fault.New(fault.UpstreamDown, "no gateway answers at %s: %w", t.gateway.base, err).WithHint("start one with: toolfit serve")
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(resp.Body) // what cannot be read says nothing
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
		return fault.New(fault.UpstreamProtocol, "%s is no toolfit gateway", t.gateway.base)
	}
	return t.printJSON(answer)
}

// chatError is an error in the form of the chat completions API.
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
		f = f.WithHint("every agent is such a model: toolfit env agents lists them, and agents: in toolfit.yaml makes one")
	}
	return f
}

// chunk is a part of an answer.
type chunk struct {
	Choices []struct {
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
	} `json:"choices"`
	Toolfit *chatapi.Extra  `json:"toolfit"`
	Error   json.RawMessage `json:"error"`
}

// show prints an answer as it comes.
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
			return fault.New(fault.UpstreamProtocol, "%s is no toolfit gateway", t.gateway.base)
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
	return fault.New(fault.UpstreamProtocol, "the answer broke off").WithHint("go on with: toolfit chat %s --continue %s", t.agent, t.session)
}

func (t *talk) showChunk(c *chunk) {
	for _, choice := range c.Choices {
		text := choice.Delta.Content
		if !t.midLine { // a call's line stands between the paragraphs
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
		fmt.Fprintln(t.env.Err, "  "+callLine(call))
	}
	if c.Toolfit.Limit != "" {
		t.endLine()
		fmt.Fprintf(t.env.Err, "  ended by a limit: %s\n", c.Toolfit.Limit)
	}
}

// showSession says how to go on, also after an error: what was said so far is kept.
func (t *talk) showSession() {
	t.endLine()
	if t.session != "" {
		fmt.Fprintf(t.env.Err, "  session %s\n", t.session)
	}
}

func (t *talk) endLine() {
	if t.midLine {
		fmt.Fprintln(t.env.Out)
	}
	t.midLine = false
}

// callLine is what has become of a call, on one line.
func callLine(r *agent.Report) string {
	switch r.Status {
	case conversation.Running:
		return fmt.Sprintf("→ %s %s", r.Tool, shorten(string(r.Arguments)))
	case conversation.Success:
		return fmt.Sprintf("✓ %s, %d ms, %d characters", r.Tool, r.DurationMS, len([]rune(r.Result)))
	case conversation.Skipped:
		return fmt.Sprintf("– %s: %s", r.Tool, shorten(r.Error))
	}
	return fmt.Sprintf("✗ %s: %s", r.Tool, shorten(r.Error))
}

// shorten is a text on one line that a terminal has room for.
func shorten(text string) string {
	const most = 160
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(r)
}
