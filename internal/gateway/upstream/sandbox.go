package upstream

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/sandbox"
	"github.com/toolfit/toolfit/internal/state/config"
)

// refusedBySandbox is what programs say about a file that they may not use.
var refusedBySandbox = regexp.MustCompile(`\bEACCES\b|(?i)\bpermission denied\b`)

// confine makes a server's command run in its sandbox, if it has one, and returns the folder for
// its temporary files. It never runs without the sandbox that it should have.
func confine(cfg config.Server, cmd *exec.Cmd) (temporary string, err error) {
	if cfg.Sandbox == nil {
		return "", nil
	}
	if temporary, err = os.MkdirTemp("", "toolfit-"+string(cfg.ID)+"-"); err == nil {
		err = cfg.Sandbox.Confine(cmd, temporary)
	}
	if err != nil {
		os.RemoveAll(temporary)
		return "", fault.New(fault.UpstreamDown, "server %s cannot be started: %w", cfg.ID, err).
			WithHint("correct sandbox of %s, or remove it to run the server with all your rights", cfg.ID)
	}
	return temporary, nil
}

// sandboxOf says how a server's sandbox is enforced on this machine; "" for a server without one.
func sandboxOf(cfg config.Server) string {
	if cfg.Sandbox == nil {
		return ""
	}
	way, err := sandbox.Way(cfg.Sandbox.Net)
	if err != nil {
		return fmt.Sprintf("not possible: %v", err)
	}
	return way
}
