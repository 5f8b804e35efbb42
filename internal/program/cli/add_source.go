package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/guard"
	"github.com/toolfit/toolfit/internal/base/shell"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/program/cli/mcpb"
	"github.com/toolfit/toolfit/internal/program/cli/serverjson"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
	"github.com/toolfit/toolfit/internal/state/clientfile"
	"github.com/toolfit/toolfit/internal/state/config"
)

// bundlesFolder is the folder of unpacked bundles, beside the configuration.
const bundlesFolder = "bundles"

// sourceFlags are the flags of add for servers that others have described.
type sourceFlags struct {
	registry string
	wish     serverjson.Wish
	set      []string
	yes      bool
}

// ofSources are their names. With a command they are the command's own.
var ofSources = []string{"registry", "package", "remote", "set", "yes"}

func (f *sourceFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.registry, "registry", "",
		"URL of a registry, folder of server.json files, or one such file (default: TOOLFIT_REGISTRY, or the official registry)")
	flags.StringVar(&f.wish.Package, "package", "",
		"run the package of this kind: "+strings.Join(serverjson.Kinds, ", ")+" (default: the first that there is)")
	flags.BoolVar(&f.wish.Remote, "remote", false, "use the server at its address, even if there is a package")
	flags.StringArrayVar(&f.set, "set", nil, "value that a server.json or bundle asks for, NAME=VALUE; can be repeated")
	flags.BoolVar(&f.yes, "yes", false, "add it without asking")
}

// isSource tells whether an argument of add names a server that others have described: in a registry, a server.json or a bundle.
func isSource(arg string) bool {
	if _, _, ok := serverjson.SplitName(arg); ok {
		return !exists(arg)
	}
	file := arg
	if u, err := url.Parse(arg); err == nil && serverjson.IsURL(arg) {
		file = path.Base(u.Path)
	}
	return strings.HasSuffix(file, ".mcpb") || path.Base(filepath.ToSlash(file)) == "server.json"
}

// source is the work of adding such a server.
type source struct {
	*command
	flags   sourceFlags
	path    string // the configuration
	bundle  string // a folder that was unpacked for this; "" if there is none
	answers serverjson.Answers
	secrets mover
	next    func(context.Context) (string, error) // the next line of the person; nil: nobody can be asked
}

// addSource adds a server from its description. The given server has the name, if there is one, and what flags say.
func (c *command) addSource(ctx context.Context, from string, s config.Server, flags sourceFlags) error {
	a := &source{command: c, flags: flags, path: c.editPath(), answers: serverjson.Answers{}}
	a.secrets = mover{path: a.path, lookup: c.env.Lookup}
	if !c.json && c.onTerminal() && terminal.Is(c.env.In) {
		a.next = c.lines()
	}
	s, err := a.prepare(ctx, from, s)
	var notes []string
	if err == nil {
		notes, err = c.writeServer(ctx, a.path, &s)
	}
	if err != nil {
		a.undo()
		return err
	}
	return c.tellAdded(a.path, s, notes)
}

// prepare makes the server, and shows it before it is added.
func (a *source) prepare(ctx context.Context, from string, s config.Server) (config.Server, error) {
	plan, err := a.plan(ctx, from)
	if err != nil {
		return s, err
	}
	s.ID = cmp.Or(s.ID, serverName(plan.Name))
	if err := tool.CheckServerID(s.ID); err != nil {
		return s, err
	}
	s, err = a.fill(ctx, plan, s)
	if err != nil {
		return s, err
	}
	return s, a.confirm(ctx, plan, s)
}

// undo removes what was written for a server that is not added.
func (a *source) undo() {
	for _, file := range a.secrets.Files {
		os.Remove(file)
	}
	there, _ := clientfile.Read(a.path)
	if a.bundle != "" && !slices.ContainsFunc(there.Servers, func(s config.Server) bool { return s.Cwd == a.bundle }) { // added meanwhile
		os.RemoveAll(a.bundle)
	}
}

var notInIDs = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// serverName is the name for a server: the last part of its name elsewhere.
func serverName(full string) tool.ServerID {
	last := full[strings.LastIndex(full, "/")+1:]
	return tool.ServerID(strings.Trim(notInIDs.ReplaceAllString(last, "-"), "-"))
}

// plan reads the description.
func (a *source) plan(ctx context.Context, from string) (*serverjson.Plan, error) {
	p := a.progress()
	defer p.End()
	p.Say("reading the description of the server")
	if strings.HasSuffix(from, ".mcpb") {
		if serverjson.IsURL(from) {
			return nil, usage("a bundle at a URL cannot be checked; download it and add the file, or add its server.json, which has its SHA-256")
		}
		return a.unpack(from, "")
	}
	if a.flags.wish.Remote && a.flags.wish.Package != "" {
		return nil, usage("use either --remote or --package")
	}
	client := serverjson.NewClient(nil)
	var doc *serverjson.Document
	var err error
	if server, version, ok := serverjson.SplitName(from); ok && !exists(from) {
		variable, _ := a.env.Lookup("TOOLFIT_REGISTRY")
		doc, err = serverjson.Find(ctx, client, cmp.Or(a.flags.registry, variable, serverjson.Official), server, version)
	} else {
		doc, err = serverjson.Read(ctx, client, from)
	}
	if err != nil {
		return nil, err
	}
	plan, err := doc.Choose(a.flags.wish)
	if err != nil || plan.Bundle == nil {
		return plan, err
	}
	// The address is a stranger's: it must not lead into a private network.
	file, err := mcpb.Download(ctx, serverjson.NewClient(downloads{guard.New(nil).Environment(), p}), plan.Bundle.Identifier, "")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file)
	inside, err := a.unpack(file, plan.Bundle.SHA256)
	if err == nil {
		inside.Name, inside.Notes = plan.Name, plan.Notes
	}
	return inside, err
}

func (a *source) unpack(file, sum string) (*serverjson.Plan, error) {
	folder := filepath.Join(filepath.Dir(a.path), bundlesFolder)
	if err := makePrivateFolder(folder); err != nil {
		return nil, err
	}
	dir, fresh, err := mcpb.Unpack(file, sum, folder)
	if err != nil {
		return nil, err
	}
	if fresh {
		a.bundle = dir
	}
	return mcpb.Read(dir, a.env.Home)
}

// fill answers the questions of the plan, by flags and by asking. Variables and headers that it does not ask for are added.
func (a *source) fill(ctx context.Context, plan *serverjson.Plan, given config.Server) (config.Server, error) {
	set, err := several(a.flags.set, "--set NAME=VALUE")
	if err != nil {
		return given, err
	}
	maps.Copy(a.answers, set)
	questions := plan.Questions()
	for _, q := range questions {
		for _, more := range []map[string]string{given.Env, given.Headers} {
			if value, has := more[q.Name]; has {
				a.answers[q.Name] = []string{value}
				delete(more, q.Name)
			}
		}
	}
	_, open, err := plan.Fill(a.answers)
	if err == nil {
		err = a.ask(ctx, given.ID, open)
	}
	if err == nil {
		err = a.hide(given.ID, questions)
	}
	if err != nil {
		return given, err
	}
	s, _, err := plan.Fill(a.answers)
	given.Command, given.Args, given.URL, given.Type, given.Cwd = s.Command, s.Args, s.URL, s.Type, s.Cwd
	given.Env = joined(s.Env, given.Env)
	given.Headers = joined(s.Headers, given.Headers)
	return given, err
}

func joined(all, more map[string]string) map[string]string {
	if all == nil {
		return more
	}
	maps.Copy(all, more)
	return all
}

// hide moves the secrets of flags into files.
func (a *source) hide(id tool.ServerID, questions []serverjson.Question) (err error) {
	for _, q := range questions {
		for i, value := range a.answers[q.Name] {
			if err == nil && q.Secret && value != "" && !strings.Contains(value, "${") {
				a.answers[q.Name][i], err = a.toFile(id, q.Name, value)
			}
		}
	}
	return err
}

// toFile puts a secret into a file, and returns the reference to it.
func (a *source) toFile(id tool.ServerID, name, value string) (string, error) {
	ref, err := a.secrets.toFile(config.InlineSecret{Server: string(id), Field: name, Name: name, Value: value})
	if err == nil {
		_, err = a.secrets.write()
	}
	return ref, err
}

// several are values by name; a name may come more than once.
func several(list []string, form string) (serverjson.Answers, error) {
	all := serverjson.Answers{}
	for _, item := range list {
		one, err := pairs([]string{item}, "=", form)
		if err != nil {
			return nil, err
		}
		for name, value := range one {
			all[name] = append(all[name], value)
		}
	}
	return all, nil
}

// ask gets answers to the questions, or lists those without a default if nobody can be asked.
func (a *source) ask(ctx context.Context, id tool.ServerID, open []serverjson.Question) error {
	var missing []string
	for _, q := range open {
		switch {
		case a.next != nil:
			if err := a.askOne(ctx, id, q); err != nil {
				return err
			}
		case len(q.Default) == 0:
			missing = append(missing, "\n"+line(q.Name+": "+visible.Beginning(q.Description, 200)))
		}
	}
	if len(missing) > 0 {
		return fault.New(fault.BadRequest, "%s needs values for:%s", id, strings.Join(missing, "")).
			WithHint("give each with --set NAME=VALUE; a secret as --set 'NAME=${NAME}', which is read from the environment of the gateway")
	}
	return nil
}

// askOne asks until there is an acceptable answer. A secret goes into a file, or stays in a variable of the environment.
func (a *source) askOne(ctx context.Context, id tool.ServerID, q serverjson.Question) error {
	prompt := "  : "
	switch {
	case q.Secret:
		prompt = a.lang.Sprintf("  (hidden; empty: from the gateway's environment variable %s): ", variableOf(q.Name))
	case len(q.Default) > 0:
		prompt = "  [" + line(strings.Join(q.Default, " ")) + "]: "
	case len(q.Choices) > 0:
		prompt = "  (" + line(strings.Join(q.Choices, ", ")) + "): "
	}
	fmt.Fprintln(a.env.Err, line(q.Name+": "+visible.Beginning(q.Description, 200)))
	for {
		text, err := a.read(ctx, prompt, q.Secret)
		if err != nil {
			return err
		}
		value, wrong := q.Check(text)
		switch {
		case text == "" && len(q.Default) > 0:
			return nil
		case text == "" && q.Secret:
			value = "${" + variableOf(q.Name) + "}"
		case text == "":
			continue
		case wrong != nil:
			fmt.Fprintf(a.env.Err, "  %s\n", a.explain(wrong))
			continue
		case q.Secret:
			value, err = a.toFile(id, q.Name, text)
		}
		a.answers[q.Name] = []string{value}
		return err
	}
}

// read reads a line, a secret one without showing it. The end of the input, and an interrupt, mean no.
func (a *source) read(ctx context.Context, prompt string, secret bool) (string, error) {
	if f, ok := a.env.In.(*os.File); ok && secret {
		defer fmt.Fprintln(a.env.Err)
		defer terminal.Hide(f)()
	}
	fmt.Fprint(a.env.Err, prompt)
	text, err := a.next(ctx)
	if err != nil {
		return "", errNotAdded
	}
	return strings.TrimSpace(text), nil
}

var errNotAdded = fault.New(fault.Canceled, "nothing was added")

// confirm shows what is added, all of it but secrets, and asks whether it is meant.
func (a *source) confirm(ctx context.Context, plan *serverjson.Plan, s config.Server) error {
	fmt.Fprintln(a.env.Err, line(fmt.Sprintf("%s %s: %s", plan.Name, plan.Version, visible.Beginning(plan.Description, 200))))
	shown := s.ReplaceSecrets(func(config.InlineSecret) string { return "…" })
	if s.URL != "" {
		a.tell("  connects to %s\n", line(shown.URL))
	} else {
		a.tell("  runs %s\n", line(shell.Join(append([]string{s.Command}, shown.Args...))))
	}
	for _, name := range slices.Sorted(maps.Keys(shown.Env)) {
		a.tell("  with %s=%s\n", line(name), line(shown.Env[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(shown.Headers)) {
		a.tell("  with the header %s: %s\n", line(name), line(shown.Headers[name]))
	}
	a.note("  ", plan.Notes)
	switch {
	case a.flags.yes:
		return nil
	case a.next == nil && plan.Risky:
		return fault.New(fault.BadRequest, "the description sets options of %s itself, which may give the server more rights", s.Command).
			WithHint("if the command line above is what you want, add --yes")
	case a.next == nil:
		return nil
	}
	answer, _ := a.read(ctx, a.lang.Sprintf("add it as %s? [y/N] ", s.ID), false)
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return errNotAdded
	}
	return nil
}

// bundleOf is the folder of the bundle that a server of the configuration runs; "" if it runs none.
func bundleOf(path string, id tool.ServerID) string {
	there, _ := clientfile.Read(path) // an unreadable file is reported later
	i := slices.IndexFunc(there.Servers, func(s config.Server) bool { return s.ID == id })
	folder, err := filepath.Abs(filepath.Join(filepath.Dir(path), bundlesFolder))
	if i < 0 || err != nil || filepath.Dir(there.Servers[i].Cwd) != folder {
		return ""
	}
	return there.Servers[i].Cwd
}
