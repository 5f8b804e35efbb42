package config

import (
	"fmt"
	"strings"
)

// CommandHint says what to do about a command that does not exist. Whoever comes from a
// shell often writes the whole line as the command.
func (s *Server) CommandHint() string {
	if words := strings.Fields(s.Command); len(words) > 1 {
		return fmt.Sprintf("command is the program alone: write %s there, and the rest into args of %s", words[0], s.ID)
	}
	return fmt.Sprintf("install it, or correct the command of %s", s.ID)
}
