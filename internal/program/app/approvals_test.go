//go:build unix

package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/approval"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

const withApproval = `
publicURL: https://tools.example.com
mcpServers: {shop: {builtin: demo-shop}}
policy:
- {name: notes, tools: [shop__add_note], then: approve, say: Customers read it.}
`

// client is a client on standard input and output.
type client struct {
	t    *testing.T
	send io.Writer
	said *bufio.Reader
}

func newClient(t *testing.T, a *App) *client {
	in, send := io.Pipe()
	receive, out := io.Pipe()
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.ServeStdio(ctx, "", in, out)
		out.Close()
	}()
	t.Cleanup(func() {
		leave()
		send.Close()
		go io.Copy(io.Discard, receive)
		<-done
	})
	return &client{t, send, bufio.NewReader(receive)}
}

// ask sends a message, and returns the next one that is no notification.
func (c *client) ask(message string) string {
	c.t.Helper()
	fmt.Fprintln(c.send, message)
	return c.hear()
}

func (c *client) hear() string {
	c.t.Helper()
	for {
		line, err := c.said.ReadString('\n')
		if err != nil {
			c.t.Fatal(err)
		}
		if !strings.Contains(line, `"method":"notifications/`) {
			return line
		}
	}
}

func (c *client) initialize(caps string) {
	c.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"c","version":"1"},` +
		`"capabilities":` + caps + `}}`)
}

// noting is a call that needs approval, of a legacy client, or of a modern one with the rest of its params.
func noting(order, text, rest string) string {
	return `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"shop__add_note","arguments":{"orderId":` + order +
		`,"text":"` + text + `"}` + rest + `}}`
}

func modernMeta(caps string) string {
	return `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + caps + `}`
}

// decide decides the one open question as the owner.
func decide(t *testing.T, a *App, approve bool) {
	t.Helper()
	open, err := a.Store.Approvals(t.Context(), true, "", 0)
	if err != nil || len(open) != 1 {
		t.Fatalf("%d open questions, %v", len(open), err)
	}
	owner := approval.Decider{Principal: access.Owner()}
	if _, err := a.desk.Decide(t.Context(), owner, open[0].ID, approval.Decision{Approve: approve, Reason: "我看过"}); err != nil {
		t.Fatal(err)
	}
}

// TestAnApprovalIsForOneCall: who cannot show pages is told where, and the same call again goes through once.
func TestAnApprovalIsForOneCall(t *testing.T) {
	a, _ := start(t, withApproval)
	a.Catalog.Ready(t.Context(), "default")
	order := anOrder(t, a)
	for _, era := range []string{"", modernMeta(`{"elicitation":{"form":{}}}`)} {
		c := newClient(t, a)
		if era == "" {
			c.initialize(`{"elicitation":{"form":{}}}`)
		}
		call := func(text, want string) {
			t.Helper()
			if got := c.ask(noting(order, fmt.Sprint("said here ", len(era), text), era)); !strings.Contains(got, want) {
				t.Errorf("%q: %.500s", era, got)
			}
		}
		const required = `"code":"approval_required"`
		call("a", "open https://tools.example.com/approvals/")
		call("a", required) // the same question
		decide(t, a, true)
		call("b", required) // other arguments
		decide(t, a, false)
		call("b", "local has denied this call of shop__add_note: 我看过")
		call("a", `"structuredContent"`)
		call("a", required) // used
		decide(t, a, true)
		call("a", `"structuredContent"`)
	}
	if n := notes(t, a, order); n != 4 {
		t.Errorf("%d notes", n)
	}
}

// TestAClientsOwnYesApprovesNothing: a client that shows pages waits for the decision of a person, in both eras.
func TestAClientsOwnYesApprovesNothing(t *testing.T) {
	a, _ := start(t, withApproval)
	a.Catalog.Ready(t.Context(), "default")
	order := anOrder(t, a)
	const caps = `{"elicitation":{"url":{}}}`
	for _, approve := range []bool{true, false} {
		want := `"structuredContent"`
		if !approve {
			want = `"code":"denied"`
		}
		old := newClient(t, a)
		old.initialize(caps)
		said := old.ask(noting(order, fmt.Sprint("said here old ", approve), ""))
		if !strings.Contains(said, `"mode":"url"`) || !strings.Contains(said, "https://tools.example.com/approvals/") {
			t.Fatalf("%s", said)
		}
		id := regexp.MustCompile(`"id":("[^"]+"|\d+)`).FindString(said)
		fmt.Fprintln(old.send, `{"jsonrpc":"2.0",`+id+`,"result":{"action":"accept"}}`)
		before := notes(t, a, order)
		decide(t, a, approve) // the question is open after the client's yes
		if got := old.hear(); !strings.Contains(got, want) {
			t.Errorf("legacy: %s", got)
		}
		if n := notes(t, a, order) - before; n != map[bool]int{true: 1}[approve] {
			t.Errorf("%d notes more", n)
		}

		modern := newClient(t, a)
		text := fmt.Sprint("said here new ", approve)
		said = modern.ask(noting(order, text, modernMeta(caps)))
		state := regexp.MustCompile(`"requestState":"[^"]+"`).FindString(said)
		if !strings.Contains(said, `"resultType":"input_required"`) || !strings.Contains(said, `"mode":"url"`) || state == "" {
			t.Fatalf("%s", said)
		}
		fmt.Fprintln(modern.send, noting(order, text, modernMeta(caps)+`,"inputResponses":{"q1":{"action":"accept"}},`+state))
		decide(t, a, approve)
		if got := modern.hear(); !strings.Contains(got, want) {
			t.Errorf("modern: %s", got)
		}
	}
}

// TestNobodyIsAskedToReadTooMuch: what a person cannot read, nobody approves.
func TestNobodyIsAskedToReadTooMuch(t *testing.T) {
	a, _ := start(t, "mcpServers: {shop: {builtin: demo-shop}}\npolicy: [{name: all, then: approve}]\n")
	a.Catalog.Ready(t.Context(), "default")
	_, err := use(t, a, "shop__find_customers", `{"text":"`+strings.Repeat("x", 70<<10)+`"}`)
	if !fault.Is(err, fault.TooLarge) && !fault.Is(err, fault.BadArguments) {
		t.Error(err)
	}
}

// TestACallThatWaitsForAPersonOutlivesItsGateway: nothing was sent, so that another gateway goes on with it, once.
func TestACallThatWaitsForAPersonOutlivesItsGateway(t *testing.T) {
	text := withApproval + "store: " + filepath.Join(t.TempDir(), "shared.db") + "\n"
	first, _ := start(t, text)
	first.Catalog.Ready(t.Context(), "default")
	order := anOrder(t, first)
	c := newClient(t, first)
	c.initialize(`{}`)
	said := c.ask(noting(order, "said here", `,"task":{"ttl":600000}`))
	id, _ := rawjson.String(rawjson.Get([]byte(said), "result", "task", "taskId"))
	if id == "" || !strings.Contains(said, "https://tools.example.com/approvals/") {
		t.Fatal(said)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, _ := start(t, text)
	second.Catalog.Ready(t.Context(), "default")
	decide(t, second, true)
	second.carryOn()
	w, err := second.Waiting.Wait(t.Context(), "", id, time.Minute)
	if err != nil || w.State != store.Completed {
		t.Errorf("%+v, %v", w, err)
	}
	if n := notes(t, second, order); n != 1 {
		t.Errorf("%d notes", n)
	}

	c = newClient(t, second)
	c.initialize(`{}`)
	said = c.ask(noting(order, "said here again", `,"task":{"ttl":600000}`))
	id, _ = rawjson.String(rawjson.Get([]byte(said), "result", "task", "taskId"))
	if _, err := second.Waiting.Cancel(t.Context(), "", id); err != nil {
		t.Fatal(err)
	}
	for open := 1; open > 0; {
		found, err := second.Store.Approvals(t.Context(), true, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		open = len(found)
	}
	if all, err := second.Store.Approvals(t.Context(), false, "", 0); err != nil || all[0].State != store.ApprovalCanceled {
		t.Errorf("%+v, %v", all, err)
	}
}
