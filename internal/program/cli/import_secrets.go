package cli

import (
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
	"github.com/toolfit/toolfit/internal/state/clientfile"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Where import puts values that look like secrets.
const (
	keepSecrets = "keep" // in the configuration, readable only by the user
	fileSecrets = "file" // in one file each, referenced by ${file:PATH}
	envSecrets  = "env"  // in variables that the user sets, referenced by ${VAR}
)

func checkWay(way string) error {
	if !slices.Contains([]string{"", keepSecrets, fileSecrets, envSecrets}, way) {
		return usage("--secrets %q: expected keep, file or env", way)
	}
	return nil
}

// secretsFolder is the folder of these files, beside the configuration.
const secretsFolder = "secrets"

// mover moves secrets out of servers before they are added to the configuration. Files are
// written by write alone.
type mover struct {
	path      string // the configuration
	lookup    func(string) (string, bool)
	unwritten map[string]string // texts of files, by path
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

// move is the server as it is added to the configuration; undo forgets its secrets.
func (m *mover) move(s config.Server) (out config.Server, undo func(), err error) {
	before := m.moved
	undo = func() {
		for _, path := range m.Files[len(before.Files):] {
			delete(m.unwritten, path)
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

// toFile returns the reference to a file for the secret. It never takes a file with other content.
func (m *mover) toFile(h config.InlineSecret) (string, error) {
	name := strings.Trim(notInNames.ReplaceAllString(h.Server+"."+nameOf(h), "-"), "-")
	free := name
	for i := 2; ; i++ {
		path := filepath.Join(m.folder(), free)
		text, waits := m.unwritten[path]
		if !waits {
			was, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				m.Files = append(m.Files, path)
				if m.unwritten == nil {
					m.unwritten = make(map[string]string)
				}
				text = h.Value + "\n"
				m.unwritten[path] = text
			} else if err != nil {
				return "", fmt.Errorf("write the secret %s of %s: %w", h.Field, h.Server, err)
			} else {
				text = string(was)
			}
		}
		if strings.TrimRight(text, "\r\n") == h.Value {
			return "${file:" + secretsFolder + "/" + free + "}", nil
		}
		free = fmt.Sprintf("%s-%d", name, i)
	}
}

// folder is the folder of the files.
func (m *mover) folder() string { return filepath.Join(filepath.Dir(m.path), secretsFolder) }

// write writes the files; undo removes them.
func (m *mover) write() (undo func(), err error) {
	var written []string
	undo = func() {
		for _, path := range written {
			os.Remove(path)
		}
	}
	if len(m.unwritten) > 0 {
		err = makePrivateFolder(m.folder())
	}
	for path, text := range m.unwritten {
		if err == nil {
			err = writeNew(path, text)
			written = append(written, path)
		}
	}
	if err != nil {
		undo()
		return func() {}, fmt.Errorf("write the secrets: %w", err)
	}
	m.unwritten = nil
	return undo, nil
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

// secretsWay asks where secrets should go, unless a flag says so or there are none.
func (c *command) secretsWay(ctx context.Context, way string, found []holding) (string, error) {
	if way != "" {
		return way, nil
	}
	path := c.editPath()
	there, _ := clientfile.Read(path) // an unreadable file is reported later
	var held []string
	for _, h := range found {
		for _, s := range h.Servers {
			if clientfile.IsSelf(s) || slices.ContainsFunc(there.Servers, func(other config.Server) bool { return other.ID == s.ID }) {
				continue
			}
			held = append(held, heldIn(s)...)
		}
	}
	if len(held) == 0 || c.json || !c.onTerminal() || !terminal.Is(c.env.In) {
		return keepSecrets, nil
	}
	answer, err := c.askWay(ctx, path, held)
	return cmp.Or(answer, keepSecrets), err
}

// askWay asks until there is an answer; "" if the input ends.
func (c *command) askWay(ctx context.Context, path string, held []string) (string, error) {
	c.tell("%s: %s\n", c.looksLike(len(held)), c.some(held))
	next := c.lines()
	for {
		c.tell("[k]eep in %s, one [f]ile each, or environment [v]ariables? [k] ", path)
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

func (c *command) looksLike(n int) string {
	if n == 1 {
		return c.word("1 value looks like a secret")
	}
	return c.lang.Sprintf("%d values look like secrets", n)
}

func (c *command) tellSecrets(m *mover) {
	if len(m.Kept) > 0 {
		c.tell("note: %s in %s%s: %s; --secrets file or --secrets env moves them out\n", c.looksLike(len(m.Kept)), m.path,
			c.word(alone), c.some(m.Kept))
	}
	if len(m.Files) > 0 {
		c.say("moved %s to %s%s\n", c.count(len(m.Files), "secret"), m.folder(), c.word(alone))
	}
	if len(m.Variables) > 0 {
		c.say("set these variables where toolfit runs:\n")
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
