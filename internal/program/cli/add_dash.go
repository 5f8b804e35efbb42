package cli

import (
	"slices"
	"strings"
)

// dashed puts the -- before the command of "add NAME COMMAND ARG…" where it was left out and
// flags follow that are the command's: short ones, and those that add does not have. With long
// ones of our own among them nobody knows whose is whose, and they are refused. What cannot be
// read is left for the real parser to refuse.
func dashed(env *Env, args []string) ([]string, error) {
	if !slices.Contains(args, "add") {
		return args, nil
	}
	scratch := &command{env: env} // whose flags nobody else reads
	add, rest, err := scratch.root().Find(args)
	if err != nil || add.Name() != "add" || slices.Contains(rest, "--") {
		return args, nil
	}
	flags := add.Flags()
	flags.AddFlagSet(add.InheritedFlags())
	flags.SetInterspersed(false)
	var name string
	for range 2 { // up to the name, then up to the command
		if flags.Parse(rest) != nil || flags.NArg() < 2 && name == "" || flags.NArg() == 0 {
			return args, nil
		}
		rest = flags.Args()
		if name == "" {
			name, rest = rest[0], rest[1:]
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
		return nil, usage("%s is a flag of toolfit add, and %s is none. Flags of toolfit go before --, those of the command behind it: toolfit add %s [%s …] -- %s",
			ours, theirs, name, ours, shellLine(rest))
	}
	return slices.Insert(slices.Clone(args), len(args)-len(rest), "--"), nil
}

// shellLine is a command as one types it.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; w == "" || strings.ContainsAny(w, " \t\n'\"\\$`*?<>|&;()#~{}[]!") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
