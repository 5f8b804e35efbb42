package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
)

// maxValueInput limits what is read of a value.
const maxValueInput = 64 << 10

// setValue is the command that keeps a value for the headers of one's own calls. It is read from the input, so that no
// shell remembers it.
func (c *command) setValue() *cobra.Command {
	var flags askFlags
	cmd := &cobra.Command{
		Use: "set NAME -", Short: "Keep your own value for headers with ${user:NAME}; it is read from the input",
		Example: `  toolfit connections set GITHUB_TOKEN - < token.txt`,
		Args:    takes(2, 2, "the name of a value, and - for the input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[1] != "-" {
				return usage("write - and give the value on the input: a shell would remember it otherwise")
			}
			value, err := io.ReadAll(io.LimitReader(c.env.In, maxValueInput))
			if err != nil {
				return err
			}
			body, err := json.Marshal(map[string]string{"value": strings.TrimSpace(string(value))})
			if err != nil {
				return err
			}
			r := request{method: http.MethodPut, path: "/values/" + url.PathEscape(args[0]), body: body}
			return askFor(c, cmd, flags, "keeping the value", r, func(_ *gateway, _ map[string]string) error {
				return c.printf(nil, "%s is kept for your calls\n", args[0])
			})
		},
	}
	flags.addGateway(cmd)
	return cmd
}

func (c *command) unsetValue() *cobra.Command {
	var flags askFlags
	cmd := &cobra.Command{
		Use: "unset NAME", Short: "Forget your own value", Args: takes(1, 1, "the name of a value"),
		Example: `  toolfit connections unset GITHUB_TOKEN`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r := request{method: http.MethodDelete, path: "/values/" + url.PathEscape(args[0])}
			return askFor(c, cmd, flags, "forgetting the value", r, func(_ *gateway, _ map[string]string) error {
				return c.printf(nil, "%s is forgotten\n", args[0])
			})
		},
	}
	flags.addGateway(cmd)
	return cmd
}
