package cli

import (
	"cmp"
	"errors"
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
		Use: "secret", Short: "Print the local secret, which gives admin access to a gateway without keys", Args: noArguments,
		Example: `  toolfit secret
  curl -H "Authorization: Bearer $(toolfit secret)" localhost:8420/api/v1/keys`,
		Long: `Print the local secret. While a gateway has no keys, any program that you run can list and
call its tools; changing servers, keys, rules and agents requires this secret:

  curl -H "Authorization: Bearer $(toolfit secret)" http://127.0.0.1:8420/api/v1/keys

toolfit commands send it automatically. Only you can read its file, which is created on the first start.`,
		RunE: func(*cobra.Command, []string) error {
			folder := stateFolder(runtime.GOOS, c.env)
			if folder == "" {
				return fault.New(fault.BadConfig, "there is no home folder to store the secret in").WithHint("set HOME")
			}
			secret, err := access.OpenLocalSecret(folder)
			if err != nil {
				return err
			}
			return c.printf(map[string]string{"secret": string(secret)}, "%s\n", secret)
		},
	}
}

// stateFolder is the folder for the user's state; "" without a home folder.
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

// openSecret is the secret for a gateway that starts. If it cannot be stored, as in some
// containers, it is valid for this run only; the printed sign-in link works all the same.
func (c *command) openSecret() (access.LocalSecret, error) {
	if folder := stateFolder(runtime.GOOS, c.env); folder != "" {
		secret, err := access.OpenLocalSecret(folder)
		if err == nil || fault.Is(err, fault.BadConfig) {
			return secret, err
		}
	}
	return access.NewLocalSecret(), nil
}

// credential is what authenticates to the gateway at --url: a key, or on this machine the local
// secret, which is never sent to another user's program.
func (c *command) credential(flags askFlags) (string, error) {
	key, _ := c.env.Lookup("TOOLFIT_KEY")
	if flags.key != "" || key != "" {
		return cmp.Or(flags.key, key), nil
	}
	u, err := url.Parse(flags.url)
	folder := stateFolder(runtime.GOOS, c.env)
	if err != nil || folder == "" || !access.IsLoopback(net.JoinHostPort(u.Hostname(), "0")) {
		return "", nil
	}
	secret, err := access.ReadLocalSecret(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil // no gateway was ever started here
	}
	if err == nil && servedByAnother(u) {
		err = fault.New(fault.Forbidden, "%s is served by another user of this machine; your local secret is not sent there", u.Host).
			WithHint("give a key with --key or in TOOLFIT_KEY")
	}
	return string(secret), err
}

// servedByAnother tells whether another user listens at the address.
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
