package cli

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// loginTime is how long a command waits for a person to sign in.
const loginTime = 10 * time.Minute

type loginFlags struct {
	device, paste bool
	token         string
}

func (c *command) login() *cobra.Command {
	var flags askFlags
	var how loginFlags
	cmd := &cobra.Command{
		Use: "login SERVER", Short: "Sign in to a server, so that its tools can be called", Args: takes(1, 1, "the name of a server"),
		Long: `Sign in to a server that takes OAuth tokens: for yourself (oauth: {as: user}) or, as an
administrator, for the gateway (oauth: {as: gateway}). The gateway stores the token encrypted.

Without a flag the page of the running gateway is opened in the browser. --device is for another
device, --paste for a browser that cannot reach the gateway, --token - for a token that you have.`,
		Example: "  toolfit login github\n  toolfit login github --device\n  pbpaste | toolfit login github --token -",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := how.check(); err != nil {
				return err
			}
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				if err := c.signInTo(cmd.Context(), g, args[0], how); err != nil {
					return err
				}
				return c.printf(map[string]string{"connected": args[0]}, "connected to %s\n", args[0])
			})
		},
	}
	flags.addGateway(cmd)
	cmd.Flags().BoolVar(&how.device, "device", false, "sign in on another device, with a code")
	cmd.Flags().BoolVar(&how.paste, "paste", false, "print the address, and read from standard input where the browser was sent back to")
	cmd.Flags().StringVar(&how.token, "token", "", "use a token from standard input: --token -")
	return cmd
}

func (f loginFlags) check() error {
	n := 0
	for _, set := range []bool{f.device, f.paste, f.token != ""} {
		if set {
			n++
		}
	}
	switch {
	case n > 1:
		return usage("use only one of --device, --paste and --token")
	case f.token != "" && f.token != "-":
		return usage("the token must come from standard input, because others can read arguments: --token - < FILE")
	}
	return nil
}

func (c *command) signInTo(ctx context.Context, g *gateway, server string, how loginFlags) error {
	switch {
	case how.token != "":
		return c.giveToken(ctx, g, server)
	case how.device:
		return c.signInOnDevice(ctx, g, server)
	case how.paste:
		return c.signInByPaste(ctx, g, server)
	}
	return c.signInByBrowser(ctx, g, server)
}

// onConnection asks the gateway to do something with a connection.
func (g *gateway) onConnection(ctx context.Context, server, what string, body any, answer any) error {
	r := request{method: http.MethodPost, path: "/connections/" + url.PathEscape(server) + what}
	if body != nil {
		r.body = rawjson.Encode(body)
	}
	return g.do(ctx, r, answer)
}

func (c *command) giveToken(ctx context.Context, g *gateway, server string) error {
	token, err := c.readToken()
	if err != nil {
		return err
	}
	return g.onConnection(ctx, server, "/token", map[string]string{"token": token}, &struct{}{})
}

func (c *command) signInByPaste(ctx context.Context, g *gateway, server string) error {
	var begun struct{ URL string }
	if err := g.onConnection(ctx, server, "", nil, &begun); err != nil {
		return err
	}
	c.tell("open this page and sign in:\n\n  %s\n\n", begun.URL)
	c.tell("then paste the whole address of the page to which you are sent back, even if it shows an error:\n")
	line, err := bufio.NewReader(io.LimitReader(c.env.In, maxTokenInput)).ReadString('\n')
	if err != nil && err != io.EOF {
		return err
	}
	if strings.TrimSpace(line) == "" {
		return usage("there is no address on standard input")
	}
	return g.onConnection(ctx, server, "/finish", map[string]string{"url": strings.TrimSpace(line)}, &struct{}{})
}

func (c *command) signInOnDevice(ctx context.Context, g *gateway, server string) error {
	var begun restapi.DeviceLogin
	if err := g.onConnection(ctx, server, "/device", nil, &begun); err != nil {
		return err
	}
	c.tell("on any device, open %s and type in: %s\n", begun.Page, begun.Code)
	if begun.Whole != "" {
		c.tell("or open: %s\n", begun.Whole)
	}
	answer := restapi.DeviceAnswer{Again: begun.Again}
	for answer.Connected == "" {
		if err := pause(ctx, time.Duration(max(answer.Again, 1))*time.Second); err != nil {
			return err
		}
		answer = restapi.DeviceAnswer{}
		if err := g.onConnection(ctx, server, "/device/finish", map[string]string{"state": begun.State}, &answer); err != nil {
			return err
		}
	}
	return nil
}

// pause waits, unless the command is interrupted.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return fault.New(fault.Canceled, "canceled before somebody has signed in")
	case <-time.After(d):
		return nil
	}
}

// signInByBrowser opens the page of the gateway, and waits until the person has signed in there.
func (c *command) signInByBrowser(ctx context.Context, g *gateway, server string) error {
	if g.standalone {
		return fault.New(fault.BadRequest, "no gateway is running to which the browser could come back").
			WithHint("start one with: toolfit serve; or add --paste or --device")
	}
	before, err := g.connection(ctx, server)
	if err != nil {
		return err
	}
	page := g.signInPage(ctx, before.Page)
	c.tell("sign in on this page; waiting until you have:\n\n  %s\n\n", page)
	if c.env.Open != nil {
		if err := c.env.Open(page); err != nil {
			c.tell("no browser was opened: %v\n", err)
		}
	}
	for end := time.Now().Add(loginTime); time.Now().Before(end); {
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
		now, err := g.connection(ctx, server)
		if err != nil {
			return err
		}
		if now.State == "ready" && !now.Updated.Equal(before.Updated) {
			return nil
		}
	}
	return fault.New(fault.LoginRequired, "nobody has signed in to %s within %s", server, loginTime).
		WithHint("sign in to the console as who runs this command; see: toolfit connections")
}

// connection is the caller's own connection to a server.
func (g *gateway) connection(ctx context.Context, server string) (restapi.Connection, error) {
	all, err := g.connections(ctx, false)
	if err != nil {
		return restapi.Connection{}, err
	}
	for _, one := range all {
		if string(one.Server) == server {
			return one, nil
		}
	}
	return restapi.Connection{}, fault.New(fault.NotFound, "there is no server %q to which people sign in", server).
		WithHint("list them with: toolfit connections; a server gets there by: oauth: {as: user}")
}

// signInPage is a page as a link that also signs the user of this machine in to the console, if that needs no key.
func (g *gateway) signInPage(ctx context.Context, page string) string {
	path, ours := strings.CutPrefix(page, g.base+"/")
	if !g.socket || !ours {
		return page
	}
	found, err := greet(ctx, g.http, true)
	if err != nil || found.SignIn == "" {
		return page
	}
	return g.base + found.SignIn + "&back=" + url.QueryEscape("/"+path)
}
