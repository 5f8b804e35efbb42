package config

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Program returns the absolute path of the server's command. One with a slash is relative to Cwd,
// any other is looked up in PATH.
func (s *Server) Program() (string, error) {
	name := s.Command
	if strings.Contains(filepath.ToSlash(name), "/") && !filepath.IsAbs(name) {
		full, err := filepath.Abs(filepath.Join(s.Cwd, name))
		if err != nil {
			return "", err
		}
		name = full
	}
	path, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return "", err
	}
	return filepath.Abs(path)
}

// CommandHint says what to do about a command that does not exist. Often the command is a whole
// command line.
func (s *Server) CommandHint() string {
	if hint := s.WindowsHint(); hint != "" {
		return hint
	}
	if words := strings.Fields(s.Command); len(words) > 1 && !strings.ContainsAny(words[0], `/\`) {
		return fmt.Sprintf("command is the program alone: write %s there, and the rest into args of %s", words[0], s.ID)
	}
	return fmt.Sprintf("install it, or correct the command of %s", s.ID)
}
