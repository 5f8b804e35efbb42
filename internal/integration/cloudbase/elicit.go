package cloudbase

import (
	"context"
	"crypto/rand"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/integration/cloudbase/picker"
	"github.com/toolfit/toolfit/internal/mcp"
)

// elicitation passes the link to a client that can show links.
type elicitation struct {
	wait    *picker.Wait
	client  mcp.Peer
	message string
}

// run asks the client to show the link and waits for the choice. Asked is false when the client
// cannot be asked.
func (e elicitation) run(ctx context.Context) (c picker.Choice, asked bool, err error) {
	id := rand.Text()
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan string, 1)
	go func() { answers <- e.ask(asking, id) }()
	for {
		select {
		case <-ctx.Done():
			return c, true, ctx.Err()
		case <-e.wait.Done(): // the person may be quicker than the client
			e.complete(ctx, id)
			c, err = e.wait.Result(ctx)
			return c, true, err
		case action := <-answers:
			switch action {
			case "accept": // the person has the link; the answer comes from the page
			case "decline", "cancel":
				return picker.Choice{Outcome: picker.Canceled}, true, nil
			default:
				return c, false, ctx.Err()
			}
		}
	}
}

// ask returns what the person did with the link; "": the client cannot be asked.
func (e elicitation) ask(ctx context.Context, id string) string {
	message := "Pick a cloud environment on this page."
	if e.message != "" {
		message += " " + e.message
	}
	params := rawjson.Encode(map[string]string{"mode": "url", "message": message, "url": e.wait.URL(), "elicitationId": id})
	res, err := e.client.Ask(ctx, "elicitation/create", params)
	if err != nil {
		return ""
	}
	action, _ := rawjson.String(rawjson.Get(res, "action"))
	return action
}

// complete tells the client that the person is done.
func (e elicitation) complete(ctx context.Context, id string) {
	_ = e.client.Notify(ctx, "notifications/elicitation/complete", json.RawMessage(`{"elicitationId":"`+id+`"}`))
}
