package cli

import (
	"slices"
	"strings"
)

// dashed inserts the missing -- in "add NAME COMMAND ARG…" if flags follow that can only be the
// command's: short ones, and those that add does not have. If flags of add are among them, it
// is ambiguous and an error. Parse errors are left to the real parser.
func dashed(env *Env, args []string) ([]string, error) {
	if !slices.Contains(args, "add") {
		return args, nil
	}
	scratch := &command{env: env} // with flags of its own
	add, rest, err := scratch.root().Find(args)
	if err != nil || add.Name() != "add" || slices.Contains(rest, "--") {
		return args, nil
	}
	flags := add.Flags()
	flags.AddFlagSet(add.InheritedFlags())
	flags.SetInterspersed(false)
	var name string
	for range 2 { // to the name, then to the command
		if flags.Parse(rest) != nil || flags.NArg() < 2 && name == "" || flags.NArg() == 0 {
			return args, nil
		}
		rest = flags.Args()
		if name == "" {
			name = rest[0]
			rest = rest[1:]
		}
	}
	spec, _ := flags.GetString("openapi")
	if spec != "" || strings.Contains(rest[0], "://") {
		return args, nil
	}
	var ours, theirs string
	for _, arg := range rest[1:] {
		switch long, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "="); {
		case len(arg) < 2 || arg[0] != '-':
		case arg[1] == '-' && flags.Lookup(long) != nil:
			ours = "--" + long
		default:
			theirs = arg
		}
	}
	switch {
	case theirs == "":
		return args, nil
	case ours != "":
		return nil, usage("%s is a flag of toolfit add, %s is not. Put flags of toolfit before -- and those of the command after it: toolfit add %s [%s …] -- %s",
			ours, theirs, name, ours, shellLine(rest))
	}
	return slices.Insert(slices.Clone(args), len(args)-len(rest), "--"), nil
}

// shellLine is a command with shell quoting.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`*?<>|&;()#~{}[]!") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
