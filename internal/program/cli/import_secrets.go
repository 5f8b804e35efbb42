package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
	"github.com/toolfit/toolfit/internal/program/clientfile"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Where import puts values that look like secrets.
const (
	keepSecrets = "keep" // in the configuration, readable only by the user
	fileSecrets = "file" // in one file each, referenced by ${file:PATH}
	envSecrets  = "env"  // in variables that the user sets, referenced by ${VAR}
)

// secretsFolder is the folder of these files, beside the configuration.
const secretsFolder = "secrets"

// mover moves secrets out of servers before they are added to the configuration.
type mover struct {
	path   string // the configuration
	lookup func(string) (string, bool)
	moved
}

type moved struct {
	Way       string     `json:"way"`
	Kept      []string   `json:"kept,omitempty"`      // in the configuration, as SERVER: FIELD
	Files     []string   `json:"files,omitempty"`     // files written
	Variables []variable `json:"variables,omitempty"` // variables to set
}

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// move is the server as it is added to the configuration; undo removes what it wrote.
func (m *mover) move(s config.Server) (out config.Server, undo func(), err error) {
	before := m.moved
	undo = func() {
		for _, path := range m.Files[len(before.Files):] {
			os.Remove(path)
		}
		m.moved = before
	}
	out = s.ReplaceSecrets(func(h config.InlineSecret) (ref string) {
		switch {
		case err != nil:
		case m.Way == fileSecrets && strings.TrimRight(h.Value, "\r\n") == h.Value: // line breaks at the end would be lost
			ref, err = m.toFile(h)
		case m.Way == envSecrets && visible.Text(h.Value) == h.Value: // others cannot be printed
			ref = m.toVariable(h)
		}
		if ref == "" {
			m.Kept = append(m.Kept, h.Server+": "+h.Field)
		}
		return ref
	})
	if err != nil {
		undo()
	}
	return out, undo, err
}

var notInNames = regexp.MustCompile(`[^\pL\pN_.-]+`)

// toFile writes a secret to a file and returns the reference. It never overwrites a file with
// other content.
func (m *mover) toFile(h config.InlineSecret) (string, error) {
	dir := filepath.Join(filepath.Dir(m.path), secretsFolder)
	name := strings.Trim(notInNames.ReplaceAllString(h.Server+"."+nameOf(h), "-"), "-")
	if err := makePrivateFolder(dir); err != nil {
		return "", err
	}
	for i := 2; ; i++ {
		path := filepath.Join(dir, name)
		err := writeNew(path, h.Value+"\n")
		if err == nil {
			m.Files = append(m.Files, path)
		}
		if was, readErr := os.ReadFile(path); err == nil || errors.Is(err, fs.ErrExist) && readErr == nil &&
			bytes.Equal(bytes.TrimRight(was, "\r\n"), []byte(h.Value)) {
			return "${file:" + secretsFolder + "/" + name + "}", nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("write the secret %s of %s: %w", h.Field, h.Server, err)
		}
		name = fmt.Sprintf("%s-%d", strings.TrimSuffix(name, fmt.Sprintf("-%d", i-1)), i)
	}
}

// makePrivateFolder creates a folder beside the configuration, which git ignores.
func makePrivateFolder(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = writeNew(filepath.Join(dir, ".gitignore"), "*\n")
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create the folder %s: %w", dir, err)
	}
	return nil
}

// writeNew creates a file that only the user can read.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// toVariable returns the reference to a variable: by the secret's own name if that is unset or
// has this value, otherwise prefixed with the server's name.
func (m *mover) toVariable(h config.InlineSecret) string {
	names := []string{variableOf(h.Server + "_" + nameOf(h))}
	if h.Env {
		names = slices.Insert(names, 0, variableOf(h.Name))
	}
	for i := 2; ; i++ {
		for _, name := range names {
			at := slices.IndexFunc(m.Variables, func(v variable) bool { return v.Name == name })
			set, isSet := m.lookup(name)
			switch {
			case at >= 0 && m.Variables[at].Value == h.Value, at < 0 && isSet && set == h.Value:
				return "${" + name + "}"
			case at < 0 && !isSet:
				m.Variables = append(m.Variables, variable{name, h.Value})
				return "${" + name + "}"
			}
		}
		names = []string{fmt.Sprintf("%s_%d", variableOf(h.Server+"_"+nameOf(h)), i)}
	}
}

func nameOf(h config.InlineSecret) string { return cmp.Or(h.Name, h.Field) }

var notInVariables = regexp.MustCompile(`[^A-Z0-9_]+`)

// variableOf turns text into the name of a variable.
func variableOf(text string) string {
	name := strings.Trim(notInVariables.ReplaceAllString(strings.ToUpper(text), "_"), "_")
	if !variableName.MatchString(name) {
		return "VALUE_" + name
	}
	return name
}

// newMover asks where secrets should go, unless a flag says so or there are none.
func (c *command) newMover(ctx context.Context, way string, found []holding) (*mover, error) {
	m := &mover{path: c.editPath(), lookup: c.env.Lookup, moved: moved{Way: way}}
	if way != "" {
		return m, nil
	}
	m.Way = keepSecrets
	there, _, _ := clientfile.Read(m.path) // an unreadable file is reported later
	var held []string
	for _, h := range found {
		for _, s := range h.servers {
			if isSelf(s) || slices.ContainsFunc(there, func(other config.Server) bool { return other.ID == s.ID }) {
				continue
			}
			held = append(held, heldIn(s)...)
		}
	}
	if len(held) == 0 || c.json || !c.onTerminal() || !terminal.Is(c.env.In) {
		return m, nil
	}
	answer, err := c.askWay(ctx, m.path, held)
	if answer != "" {
		m.Way = answer
	}
	return m, err
}

// askWay asks until there is an answer; "" if the input ends.
func (c *command) askWay(ctx context.Context, path string, held []string) (string, error) {
	fmt.Fprintf(c.env.Err, "%s: %s\n", looksLike(len(held)), some(held))
	next := c.lines()
	for {
		fmt.Fprintf(c.env.Err, "[k]eep in %s, one [f]ile each, or environment [v]ariables? [k] ", path)
		line, err := next(ctx)
		if errors.Is(err, io.EOF) {
			fmt.Fprintln(c.env.Err)
			return "", nil
		}
		if err != nil {
			return "", err
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "", "k", "keep":
			return keepSecrets, nil
		case "f", "file", "files":
			return fileSecrets, nil
		case "v", "variables", "e", "env":
			return envSecrets, nil
		}
	}
}

func heldIn(s config.Server) (names []string) {
	for _, h := range s.InlineSecrets() {
		names = append(names, h.Server+": "+h.Field)
	}
	return names
}

func looksLike(n int) string {
	if n == 1 {
		return "1 value looks like a secret"
	}
	return fmt.Sprintf("%d values look like secrets", n)
}

func (c *command) tellSecrets(m *mover) {
	if len(m.Kept) > 0 {
		fmt.Fprintf(c.env.Err, "note: %s in %s%s: %s; --secrets file or --secrets env moves them out\n", looksLike(len(m.Kept)), m.path, alone,
			some(m.Kept))
	}
	if len(m.Files) > 0 {
		fmt.Fprintf(c.env.Out, "moved %s to %s%s\n", count(len(m.Files), "secret"), filepath.Join(filepath.Dir(m.path), secretsFolder), alone)
	}
	if len(m.Variables) > 0 {
		fmt.Fprintln(c.env.Out, "set these variables where toolfit runs:")
	}
	for _, v := range m.Variables {
		fmt.Fprintln(c.env.Out, "  "+setting(runtime.GOOS, v))
	}
}

// alone says who can read a private file, on systems with file modes.
var alone = map[bool]string{true: ", which only you can read"}[runtime.GOOS != "windows"]

// setting is the shell command that sets the variable.
func setting(system string, v variable) string {
	if system == "windows" {
		return "$env:" + v.Name + " = '" + strings.ReplaceAll(v.Value, "'", "''") + "'"
	}
	return "export " + v.Name + "='" + strings.ReplaceAll(v.Value, "'", `'\''`) + "'"
}
