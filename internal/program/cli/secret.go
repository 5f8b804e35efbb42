package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/state/access"
)

func (c *command) secret() *cobra.Command {
	return &cobra.Command{
		Use: "secret", Short: "Print the local secret, which administers a gateway without keys", Args: exactly(0, "no arguments"),
		Long: `Print the local secret. While a gateway has no keys, anybody who runs programs as you may
list and call its tools; to change servers, keys, rules and agents they must show this secret:

  curl -H "Authorization: Bearer $(toolfit secret)" http://127.0.0.1:8420/api/v1/keys

The commands of toolfit send it by themselves. The file is yours alone; it is made at the first start.`,
		RunE: func(*cobra.Command, []string) error {
			folder := stateFolder(runtime.GOOS, c.env)
			if folder == "" {
				return fault.New(fault.BadConfig, "the user has no home folder, so there is no place for a secret").WithHint("set HOME")
			}
			secret, err := access.OpenLocalSecret(folder)
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(map[string]string{"secret": string(secret)})
			}
			_, err = fmt.Fprintln(c.env.Out, secret)
			return err
		},
	}
}

// stateFolder is where a program keeps what is the user's own; "" for a user without a home.
func stateFolder(system string, env *Env) string {
	under := func(variable string, home ...string) string {
		if dir, _ := env.Lookup(variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, "toolfit")
		}
		if env.Home == "" {
			return ""
		}
		return filepath.Join(append(append([]string{env.Home}, home...), "toolfit")...)
	}
	switch system {
	case "windows":
		return under("LOCALAPPDATA", "AppData", "Local")
	case "darwin":
		return under("XDG_STATE_HOME", "Library", "Application Support")
	}
	return under("XDG_STATE_HOME", ".local", "state")
}

// openSecret is the secret for a gateway that is about to serve. Where it cannot be kept, as
// in a container, one for this run has to do: the link that is printed works with it.
func (c *command) openSecret() (access.LocalSecret, error) {
	if folder := stateFolder(runtime.GOOS, c.env); folder != "" {
		secret, err := access.OpenLocalSecret(folder)
		if err == nil || fault.Is(err, fault.BadConfig) {
			return secret, err
		}
	}
	return access.NewLocalSecret(), nil
}

// credential is what to show to the gateway of --url: a key, or on this machine the local
// secret. That goes to no program of another user.
func (c *command) credential(flags askFlags) (string, error) {
	if key, _ := c.env.Lookup("TOOLFIT_KEY"); flags.key != "" || key != "" {
		if flags.key != "" {
			key = flags.key
		}
		return key, nil
	}
	u, err := url.Parse(flags.url)
	folder := stateFolder(runtime.GOOS, c.env)
	if err != nil || folder == "" || !access.IsLoopback(net.JoinHostPort(u.Hostname(), "0")) {
		return "", nil
	}
	secret, err := access.ReadLocalSecret(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil // nothing was ever served here
	}
	if err == nil && servedByAnother(u) {
		err = fault.New(fault.Forbidden, "%s is served by another user of this machine, who does not get your local secret", u.Host).
			WithHint("give a key with --key or in TOOLFIT_KEY")
	}
	return string(secret), err
}

// servedByAnother tells whether another user serves the address.
func servedByAnother(u *url.URL) bool {
	hosts := []string{u.Hostname()}
	if hosts[0] == "localhost" {
		hosts = []string{"127.0.0.1", "::1"}
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	for _, host := range hosts {
		at, err := netip.ParseAddrPort(net.JoinHostPort(host, port))
		if err == nil && inbound.ListenerUser(at) == inbound.OtherUser {
			return true
		}
	}
	return false
}
