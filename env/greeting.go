package env

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// wire sends single messages to a server.
type wire interface {
	send(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	notify(ctx context.Context, method string) error
	agree(version string) // what was agreed on; later messages may have to repeat it
	Close() error
}

// greeted is a wire after initialization.
type greeted struct {
	wire
	modern bool
}

const selfInfo = `{"name":"toolfit-env","version":"1"}`

// greet initializes the connection in the older protocol, which most servers know, or else in the
// newer one.
func greet(ctx context.Context, w wire) (*greeted, error) {
	const hello = `{"protocolVersion":"` + mcp.Latest + `","capabilities":{},"clientInfo":` + selfInfo + `}`
	res, err := w.send(ctx, "initialize", json.RawMessage(hello))
	var refused *mcp.Error
	var status *StatusError
	if errors.As(err, &refused) || errors.As(err, &status) && status.Code == http.StatusBadRequest {
		g := &greeted{wire: w, modern: true}
		w.agree(mcp.ModernVersion)
		if _, again := g.ask(ctx, "server/discover", nil); again != nil {
			return nil, fmt.Errorf("greet the server: %w", err)
		}
		return g, nil
	}
	if err != nil {
		return nil, fmt.Errorf("greet the server: %w", err)
	}
	version, _ := rawjson.String(rawjson.Get(res, "protocolVersion"))
	if version == "" {
		return nil, errors.New("greet the server: its answer names no protocol version")
	}
	w.agree(version)
	if err := w.notify(ctx, "notifications/initialized"); err != nil {
		return nil, fmt.Errorf("greet the server: %w", err)
	}
	return &greeted{wire: w}, nil
}

// ask sends a request; in the newer protocol each carries metadata.
func (g *greeted) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if params == nil {
		params = json.RawMessage("{}")
	}
	if g.modern {
		const meta = `{"` + mcp.MetaVersion + `":"` + mcp.ModernVersion + `","` + mcp.MetaInfo + `":` + selfInfo + `,"` +
			mcp.MetaAbilities + `":{}}`
		params = mcp.With(params, "_meta", []byte(meta))
	}
	return g.send(ctx, method, params)
}

// answerTo answers a server's request: only ping is supported.
func answerTo(m mcp.Message) []byte {
	if m.Method == "ping" {
		return mcp.AppendResult(nil, m.ID, json.RawMessage("{}"))
	}
	return mcp.AppendError(nil, m.ID, mcp.Errorf(mcp.CodeMethodNotFound, "unknown method %s", m.Method))
}
