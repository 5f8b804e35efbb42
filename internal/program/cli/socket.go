package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
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

// socketPath is the socket on which a gateway listens for commands with the same configuration
// and store; "" if there is no place for it. It is beside the store, or in the user's state
// folder if the store is not a file or the system cannot tell who connects.
func (c *command) socketPath(cfg *config.Config) (string, error) {
	file, err := filepath.Abs(cfg.Path)
	if err != nil {
		return "", err
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(file)) // not of the file: in a mounted config map its target changes
	if err != nil {
		return "", err
	}
	beside := filepath.Dir(cfg.Store)
	store := filepath.Base(cfg.Store)
	if strings.Contains(cfg.Store, "://") || !inbound.CanIdentifySocket {
		beside = stateFolder(runtime.GOOS, c.env)
		store = cfg.Store
	}
	if beside == "" {
		return "", nil
	}
	sum := sha256.Sum256([]byte(filepath.Join(folder, filepath.Base(file)) + "\x00" + store))
	return filepath.Join(beside, ".toolfit-"+hex.EncodeToString(sum[:8])+".sock"), nil
}

// listenSocket lets commands of the same user and configuration find this gateway. A gateway
// without a socket works as well; the log says why.
func (c *command) listenSocket(cfg *config.Config) net.Listener {
	path, err := c.socketPath(cfg)
	if err == nil && path == "" {
		err = errors.New("there is no home folder")
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
		c.logger(slog.LevelInfo).Warn("another gateway is running with this configuration: commands use that one unless --url names this one")
	case err != nil:
		c.logger(slog.LevelInfo).Warn("commands cannot find this gateway; name it with --url", "error", err)
	default:
		return l
	}
	return nil
}

// greetTimeout is how long a gateway may take to answer.
const greetTimeout = 30 * time.Second

// findGateway is the gateway that is running with the configuration; nil if there is none. It
// prints that it is used.
func (c *command) findGateway(ctx context.Context, key string, over runFlags) (*gateway, error) {
	cfg, err := c.loadWith(over)
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
	found, err := greet(ctx, rt, false)
	if err != nil {
		return nil, err
	}
	c.tell("using the gateway at %s (--standalone starts separate servers)\n", found.URL)
	return &gateway{base: found.URL, key: key, http: rt, socket: key == ""}, nil
}

// greet asks for the URL of the gateway on a socket, and if so wanted for a link that signs in to its console.
func greet(ctx context.Context, rt http.RoundTripper, signIn bool) (app.Greeting, error) {
	ctx, cancel := context.WithTimeout(ctx, greetTimeout)
	defer cancel()
	var found app.Greeting
	address := "http://local" + app.GreetingPath
	if signIn {
		address += "?signIn=true"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
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
			WithHint("it may hang; --standalone works without it")
	}
	return found, nil
}
