package restapi

import (
	"context"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
)

// Script is what a call has in addition that runs a script.
type Script struct {
	Run   string          `json:"run"` // the id of the call that began it: another one's after a pause
	Code  string          `json:"code"`
	Input json.RawMessage `json:"input,omitempty"`
	Log   []ScriptCall    `json:"log"`
}

// ScriptCall is one call of a script, in the order in which they began.
type ScriptCall struct {
	Name  string `json:"name"`           // as the script wrote it: shop.list_orders, sleep
	Call  string `json:"call,omitempty"` // the id of its record; "": it has none, or was not made yet
	Done  bool   `json:"done"`           // the script has its answer
	Error string `json:"error,omitempty"`
}

// addScript adds the script that a call ran, as long as it is kept and can be decrypted.
func (a *API) addScript(ctx context.Context, c *Call) error {
	if c.Tool != call.RunScript && c.Server != string(catalog.Recipes) {
		return nil
	}
	id := call.RunOf(c.ID, c.Message)
	row, err := a.Store.ScriptRun(ctx, c.Principal, id)
	if fault.Is(err, fault.NotFound) || err == nil && row.Err != nil {
		return nil
	}
	var body call.RunBody
	if err == nil {
		err = json.Unmarshal(row.Body, &body)
	}
	if err != nil {
		return err
	}
	c.Script = &Script{Run: id, Code: body.Code, Input: body.Input, Log: []ScriptCall{}}
	for _, e := range body.Log {
		one := ScriptCall{Name: e.Name, Call: e.Call, Done: e.Done}
		if e.Thrown != nil {
			one.Error = e.Thrown.Message
		}
		c.Script.Log = append(c.Script.Log, one)
	}
	return nil
}
