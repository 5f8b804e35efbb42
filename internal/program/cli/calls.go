package cli

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
	"github.com/toolfit/toolfit/internal/state/store"
)

func (c *command) calls() *cobra.Command {
	var flags askFlags
	var waiting bool
	var parent string
	var limit int
	cmd := &cobra.Command{
		Use:   "calls",
		Short: "List calls; wait for or cancel those that go on without their request",
		Long: `List the last calls, newest first. With --waiting: those that go on without their request, because
they take long. Calls that a script made are indented below the script's own; --parent lists all of one.`,
		Example: `  toolfit calls --waiting
  toolfit calls --parent c_1k0c7v6xawvd7ahvq3m
  toolfit calls wait c_1k0c7v6xawvd7ahvq3m --timeout 5m`,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := url.Values{"limit": {strconv.Itoa(limit)}, "waiting": {strconv.FormatBool(waiting)}}
			if parent != "" {
				q.Set("parent", parent)
			}
			return c.withRecords(cmd.Context(), flags, func(g *gateway) error {
				var page restapi.CallPage
				if err := g.do(cmd.Context(), request{path: "/calls", query: q}, &page); err != nil {
					return err
				}
				return c.show(page, func() error { return c.printCalls(page, waiting) })
			})
		},
	}
	flags.addGateway(cmd)
	cmd.Flags().BoolVar(&waiting, "waiting", false, "only calls that go on without their request")
	cmd.Flags().StringVar(&parent, "parent", "", "only calls that the script of call `id` made")
	cmd.Flags().IntVar(&limit, "limit", 50, "list at most `n` calls, up to 1000")
	cmd.AddCommand(c.waitCall(), c.cancelCall())
	return cmd
}

func (c *command) printCalls(page restapi.CallPage, waiting bool) error {
	t := terminal.Table{Head: []string{"ID", "STARTED", "TOOL", "CALLER", "STATE", "MESSAGE"}, None: "no calls"}
	if waiting {
		t.None = "no calls are waiting"
	}
	for _, one := range nested(page.Calls) {
		state := one.Outcome
		if one.Open() {
			state = string(one.State)
		}
		name := strings.Repeat("  ", one.depth) + cmp.Or(one.Tool, one.Upstream)
		t.Row(one.ID, one.At.Local().Format(time.DateTime), name, one.Principal, c.word(state), c.translate(one.Message))
	}
	return c.print(&t)
}

type nestedCall struct {
	restapi.Call
	depth int // in how many scripts that are listed too
}

// nested puts calls that scripts made below the scripts' own, in the order in which they began.
func nested(calls []restapi.Call) (rows []nestedCall) {
	listed := map[string]bool{}
	for _, one := range calls {
		listed[one.ID] = true
	}
	inner := map[string][]restapi.Call{}
	for _, one := range calls {
		if listed[one.Parent] {
			inner[one.Parent] = append(inner[one.Parent], one)
		}
	}
	var add func(one restapi.Call, depth int)
	add = func(one restapi.Call, depth int) {
		rows = append(rows, nestedCall{one, depth})
		for _, below := range slices.Backward(inner[one.ID]) {
			add(below, depth+1)
		}
	}
	for _, one := range calls {
		if !listed[one.Parent] {
			add(one, 0)
		}
	}
	return rows
}

func (c *command) waitCall() *cobra.Command {
	var flags askFlags
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "wait ID",
		Example: `  toolfit calls wait c_1k0c7v6xawvd7ahvq3m
  toolfit calls wait c_1k0c7v6xawvd7ahvq3m --timeout 5m`,
		Short: "Wait for a call that goes on without its request, and print its result",
		Args:  takes(1, 1, "the id of a call"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				done := c.waiting("waiting for the call")
				defer done()
				one, err := g.waitCall(cmd.Context(), args[0], timeout)
				done()
				switch {
				case err != nil:
					return err
				case one.Failure != nil:
					return one.Failure
				case one.Result == nil:
					return fault.New(fault.NotFound, "only the record of call %s is left: %s", one.ID, one.Outcome)
				}
				return c.printResult(restapi.CallAnswer{ID: one.ID, Result: one.Result, Ref: one.Ref, Rule: one.Rule})
			})
		},
	}
	flags.addGateway(cmd)
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait, such as 5m (default: until the call ends)")
	return cmd
}

const (
	// waitStep is how long one request waits: proxies give up on longer ones.
	waitStep = 30 * time.Second
	// askedStep is how often a call is looked at that waits for an answer of somebody else.
	askedStep = 2 * time.Second
)

// waitCall waits until a call has ended; a timeout of 0 is none.
func (g *gateway) waitCall(ctx context.Context, id string, timeout time.Duration) (one restapi.Call, err error) {
	began := time.Now()
	for {
		step := waitStep
		if timeout > 0 {
			step = min(step, max(timeout-time.Since(began), 0))
		}
		r := request{path: "/calls/" + url.PathEscape(id), query: url.Values{"wait": {step.String()}}}
		one = restapi.Call{}
		err = g.do(ctx, r, &one)
		if err == nil && one.State == store.InputRequired && step > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(min(askedStep, step)):
			}
		}
		switch {
		case ctx.Err() != nil:
			return one, goesOn(fault.Canceled, id, "call %s goes on")
		case err != nil || !one.Open():
			return one, err
		case step == 0 && one.State == store.InputRequired:
			return one, goesOn(fault.StillRunning, id, "call %s waits for an answer to a question")
		case step == 0:
			return one, goesOn(fault.StillRunning, id, "call %s is still running")
		}
	}
}

// goesOn is the error for a call that is no longer waited for.
func goesOn(code fault.Code, id, sentence string) error {
	return fault.New(code, sentence, id).WithHint("get its result with: toolfit calls wait %s; end it with: toolfit calls cancel %s", id, id)
}

func (c *command) cancelCall() *cobra.Command {
	var flags askFlags
	cmd := &cobra.Command{
		Use: "cancel ID", Short: "Cancel a call that goes on without its request", Args: takes(1, 1, "the id of a call"),
		Example: `  toolfit calls cancel c_1k0c7v6xawvd7ahvq3m`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r := request{method: http.MethodPost, path: "/calls/" + url.PathEscape(args[0]) + "/cancel"}
			return askFor(c, cmd, flags, "canceling the call", r, func(_ *gateway, one restapi.Call) error {
				return c.printf(one, "canceled %s\n", one.ID)
			})
		},
	}
	flags.addGateway(cmd)
	return cmd
}
