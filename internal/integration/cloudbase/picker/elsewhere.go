package picker

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
)

// Replicas are the other gateways at which a page, or a call that takes the answer, may arrive. Tokens and
// handles begin with the id of the gateway that has the wait.
type Replicas interface {
	ID() string // of this gateway; "": there are no others
	// Pass passes a request on; false: it is to be answered here. An error says why its sender is not admitted.
	Pass(w http.ResponseWriter, r *http.Request, replica string) (bool, error)
	// Ask asks another gateway for a path of its picker on behalf of a caller.
	Ask(ctx context.Context, caller, replica, path string) (status int, answer []byte, err error)
	Asked(r *http.Request) (caller string, ok bool) // for whom another gateway asks
}

// alone has no other gateways.
type alone struct{}

func (alone) ID() string                                                    { return "" }
func (alone) Pass(http.ResponseWriter, *http.Request, string) (bool, error) { return false, nil }
func (alone) Asked(*http.Request) (caller string, ok bool)                  { return "", false }
func (alone) Ask(context.Context, string, string, string) (int, []byte, error) {
	return http.StatusNotFound, nil, nil
}

// secret makes a token or a handle, which names this gateway.
func (p *Picker) secret(text string) string {
	if id := p.opts.Replicas.ID(); id != "" {
		return id + "." + text
	}
	return text
}

// elsewhere is the gateway that a token or a handle names; "" if that is this one, or none.
func (p *Picker) elsewhere(secret string) string {
	replica, _, named := strings.Cut(secret, ".")
	if !named || replica == p.opts.Replicas.ID() {
		return ""
	}
	return replica
}

// passed passes a page's request on to the gateway that has its wait; false: it is to be answered here.
func (p *Picker) passed(w http.ResponseWriter, r *http.Request) bool {
	replica := p.elsewhere(r.PathValue("token"))
	if replica == "" {
		return false
	}
	passed, err := p.opts.Replicas.Pass(w, r, replica)
	if err != nil {
		refuse(w, err)
	}
	return passed || err != nil
}

// State is what a call that comes back to a wait gets.
type State struct {
	Choice *Choice   `json:"choice,omitempty"` // nil: there is none yet
	URL    string    `json:"url"`
	Until  time.Time `json:"until"`
}

// Await waits for the choice of the caller's wait with the handle, here or at another gateway, for at most
// so long. With a choice the wait is over. If ctx ends, so does the wait.
func (p *Picker) Await(ctx context.Context, handle, caller string, most time.Duration) (State, error) {
	if replica := p.elsewhere(handle); replica != "" {
		return p.awaitAt(ctx, replica, handle, caller, most)
	}
	w := p.Find(handle, caller)
	if w == nil {
		return State{}, noWait()
	}
	held, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	state := State{URL: w.url, Until: w.until}
	choice, err := w.Result(held)
	switch {
	case err == nil:
		state.Choice = &choice
	case ctx.Err() != nil:
		w.End()
		return state, ctx.Err()
	}
	return state, nil
}

func noWait() error {
	return fault.New(fault.NotFound, "wait: there is no such wait; its answer was taken, or it ended").WithHint("call envPick without wait")
}

// awaitPath is where other gateways ask for a wait.
const awaitPath = "/of/replicas/"

// maxAwait limits how long another gateway may wait.
const maxAwait = time.Minute

func (p *Picker) awaitAt(ctx context.Context, replica, handle, caller string, most time.Duration) (state State, err error) {
	path := awaitPath + url.PathEscape(handle) + "?for=" + most.String()
	status, answer, err := p.opts.Replicas.Ask(ctx, caller, replica, path)
	switch {
	case ctx.Err() != nil:
		return state, ctx.Err()
	case err != nil, status == http.StatusNotFound: // the gateway is gone, and its waits with it
		return state, noWait()
	case status != http.StatusOK:
		return state, fmt.Errorf("ask another gateway for a pick: status %d", status)
	}
	return state, json.Unmarshal(answer, &state)
}

// serveAwait answers another gateway.
func (p *Picker) serveAwait(w http.ResponseWriter, r *http.Request) {
	caller, ok := p.opts.Replicas.Asked(r)
	most, err := time.ParseDuration(r.URL.Query().Get("for"))
	if !ok || err != nil {
		http.NotFound(w, r)
		return
	}
	handle := r.PathValue("handle")
	if p.elsewhere(handle) != "" {
		http.NotFound(w, r)
		return
	}
	state, err := p.Await(r.Context(), handle, caller, min(most, maxAwait))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	inbound.WriteJSON(w, http.StatusOK, state)
}
