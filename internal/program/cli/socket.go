package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/config"
)

// socketPath is where a gateway of the configuration and store listens for commands; "" where
// there is no place for it. It lies beside the store; in the user's own folder where the store
// is no file, or where the system cannot tell who connects.
func (c *command) socketPath(cfg *config.Config) (string, error) {
	file, err := filepath.Abs(cfg.Path)
	if err != nil {
		return "", err
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(file)) // not of the file itself: a mounted config map leads to a new one each time
	if err != nil {
		return "", err
	}
	beside, store := filepath.Dir(cfg.Store), filepath.Base(cfg.Store)
	if strings.Contains(cfg.Store, "://") || !inbound.CanIdentifySocket {
		beside, store = stateFolder(runtime.GOOS, c.env), cfg.Store
	}
	if beside == "" {
		return "", nil
	}
	sum := sha256.Sum256([]byte(filepath.Join(folder, filepath.Base(file)) + "\x00" + store))
	return filepath.Join(beside, ".toolfit-"+hex.EncodeToString(sum[:8])+".sock"), nil
}

// listenSocket lets the commands of the same configuration and user use this gateway. Without
// a socket it serves as well; the log says why there is none.
func (c *command) listenSocket(cfg *config.Config) net.Listener {
	path, err := c.socketPath(cfg)
	if err == nil && path == "" {
		err = errors.New("the user has no home folder")
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	var l net.Listener
	if err == nil {
		l, err = inbound.ListenLocal(path)
	}
	switch {
	case errors.Is(err, inbound.ErrServed):
		c.logger(slog.LevelInfo).Warn("another gateway runs with this configuration: commands go on using that one, or name this one with --url")
	case err != nil:
		c.logger(slog.LevelInfo).Warn("commands do not find this gateway by themselves; name it with --url", "error", err)
	default:
		return l
	}
	return nil
}

// greetWithin is how long a gateway that listens may take to answer.
const greetWithin = 30 * time.Second

// findGateway is the gateway that runs with the configuration; nil when there is none. It
// says once that it is used.
func (c *command) findGateway(ctx context.Context, key string, over runFlags) (*gateway, error) {
	cfg, err := c.load()
	if err == nil {
		err = over.apply(cfg)
	}
	if err != nil {
		return nil, err
	}
	path, err := c.socketPath(cfg)
	if err != nil || path == "" {
		return nil, nil
	}
	conn, err := inbound.DialLocal(ctx, path)
	if err != nil {
		return nil, nil // nobody listens, or another user
	}
	conn.Close()
	rt := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return inbound.DialLocal(ctx, path) }}
	found, err := greet(ctx, rt)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(c.env.Err, "using the gateway at %s (--standalone starts servers of its own)\n", found.URL)
	return &gateway{base: found.URL, key: key, http: rt}, nil
}

// greet asks which gateway listens on a socket.
func greet(ctx context.Context, rt http.RoundTripper) (app.Greeting, error) {
	ctx, cancel := context.WithTimeout(ctx, greetWithin)
	defer cancel()
	var found app.Greeting
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://local"+app.GreetingPath, nil)
	if err != nil {
		return found, err
	}
	resp, err := rt.RoundTrip(req)
	if err == nil {
		defer resp.Body.Close()
		err = json.NewDecoder(resp.Body).Decode(&found)
	}
	if err != nil {
		return found, fault.New(fault.UpstreamDown, "the gateway of this configuration does not answer: %w", err).
			WithHint("see whether it hangs; --standalone works without it")
	}
	return found, nil
}
