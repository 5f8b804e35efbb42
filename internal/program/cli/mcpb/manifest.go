package mcpb

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/regular"
	"github.com/toolfit/toolfit/internal/program/cli/serverjson"
	"github.com/toolfit/toolfit/internal/state/config"
)

// maxManifest is the largest manifest that is read.
const maxManifest = 1 << 20

// Manifest is what a manifest.json says, as far as it matters here.
type Manifest struct {
	Format      string `json:"manifest_version"`
	OldFormat   string `json:"dxt_version"`
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	Server      struct {
		Type   string  `json:"type"` // node, python, binary or uv
		Entry  string  `json:"entry_point"`
		Config *launch `json:"mcp_config"`
	} `json:"server"`
	Compatibility struct {
		Platforms []string `json:"platforms"`
	} `json:"compatibility"`
	Options map[string]option `json:"user_config"`
}

// launch is how the server is started.
type launch struct {
	Command   string            `json:"command"`
	Args      []string          `json:"args"`
	Env       map[string]string `json:"env"`
	Platforms map[string]launch `json:"platform_overrides"`
}

// option is a value that a person gives.
type option struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Required    bool     `json:"required"`
	Default     texts    `json:"default"`
	Multiple    bool     `json:"multiple"`
	Sensitive   bool     `json:"sensitive"`
	Min         *float64 `json:"min"`
	Max         *float64 `json:"max"`
}

// texts is one value or a list of them.
type texts []string

func (t *texts) UnmarshalJSON(data []byte) error {
	var list []serverjson.Scalar
	if data[0] != '[' {
		data = slices.Concat([]byte("["), data, []byte("]"))
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	for _, one := range list {
		if one != "" {
			*t = append(*t, string(one))
		}
	}
	return nil
}

// Parse reads a manifest.
func Parse(data []byte) (*Manifest, error) {
	var m Manifest
	if len(data) > maxManifest {
		return nil, fault.New(fault.TooLarge, "the manifest is larger than 1 MB")
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fault.New(fault.BadConfig, "the manifest cannot be read: %w", err)
	}
	format := cmp.Or(m.Format, m.OldFormat)
	switch {
	case !strings.HasPrefix(format, "0."):
		return nil, fault.New(fault.BadConfig, "the manifest has the format %q; 0.1 to 0.4 are known", format)
	case m.Name == "":
		return nil, fault.New(fault.BadConfig, "the manifest has no name")
	case m.Server.Config == nil && m.Server.Type == "uv" && m.Server.Entry != "":
		m.Server.Config = &launch{Command: "uv", Args: []string{"run", "--directory", "${__dirname}", m.Server.Entry}}
	case m.Server.Config == nil || m.Server.Config.Command == "":
		return nil, fault.New(fault.BadConfig, "the manifest does not say how to start the server").WithHint("it needs server.mcp_config.command")
	}
	return &m, nil
}

// Read plans the server of the bundle that is unpacked at dir. Home is the user's folder.
func Read(dir, home string) (*serverjson.Plan, error) {
	m, err := read(dir)
	if err != nil {
		return nil, err
	}
	return m.Plan(dir, home, runtime.GOOS)
}

func read(dir string) (*Manifest, error) {
	data, err := regular.Read(filepath.Join(dir, "manifest.json"), maxManifest)
	if err != nil {
		return nil, fault.New(fault.BadConfig, "the bundle has no manifest.json").WithHint("a bundle is packed by: npx @anthropic-ai/mcpb pack")
	}
	return Parse(data)
}

// makeRunnable sets the permission of a program whose bundle was packed on a system without them.
func makeRunnable(root *os.Root) error {
	m, err := read(root.Name())
	if err != nil || m.Server.Type != "binary" {
		return err
	}
	err = root.Chmod(filepath.FromSlash(m.Server.Entry), 0o755)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // another system may have it under another name, such as x.exe
		return fault.New(fault.BadConfig, "the bundle has no program: %w", err)
	}
	return nil
}

// Plan plans the server for a system.
func (m *Manifest) Plan(dir, home, system string) (*serverjson.Plan, error) {
	here := system // as manifests name it
	if system == "windows" {
		here = "win32"
	}
	if on := m.Compatibility.Platforms; len(on) > 0 && !slices.Contains(on, here) {
		return nil, fault.New(fault.BadConfig, "the bundle %s is for %s, not for %s", m.Name, strings.Join(on, ", "), here)
	}
	start := *m.Server.Config
	special := start.Platforms[here]
	start.Command = cmp.Or(special.Command, start.Command)
	if special.Args != nil {
		start.Args = special.Args
	}
	if special.Env != nil {
		start.Env = special.Env
	}
	x := &expander{m: m, fixed: fixed(dir, home)}
	return &serverjson.Plan{Name: m.Name, Version: m.Version, Description: m.Description, Build: func(f *serverjson.Filler) config.Server {
		s := config.Server{Cwd: f.Join(serverjson.Piece{Text: dir}), Env: map[string]string{}}
		s.Command = command(s.Cwd, f.Join(x.text(f, start.Command)...), system)
		for _, arg := range start.Args {
			s.Args = append(s.Args, x.words(f, arg)...)
		}
		for _, name := range slices.Sorted(maps.Keys(start.Env)) {
			if words := x.words(f, start.Env[name]); len(words) > 0 {
				s.Env[name] = strings.Join(words, ",")
			}
		}
		return s
	}}, nil
}

// command is the path of a program in the bundle, or a name for PATH.
func command(dir, name, system string) string {
	if !strings.ContainsAny(name, `/\`) {
		return name
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	if system == "windows" && filepath.Ext(name) == "" {
		name += ".exe"
	}
	return name
}

func fixed(dir, home string) map[string]string {
	return map[string]string{
		"__dirname": dir, "HOME": home, "DESKTOP": filepath.Join(home, "Desktop"), "DOCUMENTS": filepath.Join(home, "Documents"),
		"DOWNLOADS": filepath.Join(home, "Downloads"), "pathSeparator": string(filepath.Separator), "/": string(filepath.Separator),
	}
}

// expander fills the ${} of a manifest in. Those that the format does not know stay, as text.
type expander struct {
	m     *Manifest
	fixed map[string]string
}

var hole = regexp.MustCompile(`\$\{([^{}]+)\}`)

// words are the values of an argument or a variable: an option alone may have several, or none.
func (x *expander) words(f *serverjson.Filler, text string) (words []string) {
	if m := hole.FindStringSubmatch(text); m != nil && m[0] == text {
		if values, is := x.option(f, m[1]); is {
			for _, one := range values {
				words = append(words, f.Join(one))
			}
			return words
		}
	}
	return []string{f.Join(x.text(f, text)...)}
}

func (x *expander) text(f *serverjson.Filler, text string) (pieces []serverjson.Piece) {
	for {
		m := hole.FindStringSubmatchIndex(text)
		if m == nil {
			return append(pieces, serverjson.Piece{Text: text})
		}
		name := text[m[2]:m[3]]
		pieces = append(pieces, serverjson.Piece{Text: text[:m[0]]})
		if values, is := x.option(f, name); is {
			pieces = append(pieces, values...)
		} else if value, known := x.fixed[name]; known {
			pieces = append(pieces, serverjson.Piece{Text: value})
		} else {
			pieces = append(pieces, serverjson.Piece{Text: text[m[0]:m[1]]})
		}
		text = text[m[1]:]
	}
}

// formats are the types of options as questions know them.
var formats = map[string]string{"number": "number", "boolean": "boolean", "directory": "filepath", "file": "filepath"}

// option asks for user_config.NAME.
func (x *expander) option(f *serverjson.Filler, name string) (values []serverjson.Piece, is bool) {
	key, is := strings.CutPrefix(name, "user_config.")
	o, known := x.m.Options[key]
	if !is || !known {
		return nil, false
	}
	q := serverjson.Question{Name: key, Description: cmp.Or(o.Description, o.Title), Format: formats[o.Type],
		Min: o.Min, Max: o.Max, Required: o.Required, Secret: o.Sensitive, Many: o.Multiple}
	for _, value := range o.Default {
		q.Default = append(q.Default, hole.ReplaceAllStringFunc(value, func(ref string) string {
			return cmp.Or(x.fixed[strings.Trim(ref, "${}")], ref)
		}))
	}
	return f.Ask(q), true
}
