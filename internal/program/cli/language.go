package cli

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/locale"
)

// languageOf is the language that a person wishes: --lang, else the variables of POSIX in their
// order, of which the first that is set counts. It is known before the flags are parsed, because
// errors in them are told in it as well.
func languageOf(env *Env, args []string) locale.Language {
	for i, arg := range args {
		value, given := strings.CutPrefix(arg, "--lang=")
		if arg == "--lang" && i+1 < len(args) {
			value, given = args[i+1], true
		}
		if arg == "--" {
			break
		}
		if lang, ok := locale.Parse(value); given && ok {
			return lang
		}
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if value, _ := env.Lookup(name); value != "" {
			tag, _, _ := strings.Cut(value, ".") // zh_CN.UTF-8
			return locale.Choose(locale.English, tag)
		}
	}
	return locale.English
}

// langFlag is --lang: a check alone, because languageOf has read it.
type langFlag struct{ text string }

func (f *langFlag) String() string { return f.text }
func (f *langFlag) Type() string   { return "language" }

func (f *langFlag) Set(text string) error {
	if _, ok := locale.Parse(text); !ok {
		return usage("use zh or en")
	}
	f.text = text
	return nil
}

// headings are the words of cobra's template for help.
var headings = []string{
	"Usage:", "Aliases:", "Examples:", "Available Commands:", "Additional Commands:", "Flags:", "Global Flags:", "Additional help topics:",
	`Use "{{.CommandPath}} [command] --help" for more information about a command.`,
}

// usual is how flags tell their default.
var usual = regexp.MustCompile(`(?m) \(default (.*)\)$`)

// speak translates the help of all commands.
func speak(root *cobra.Command, lang locale.Language) {
	if lang == locale.English {
		return
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var pairs []string
	for _, heading := range headings {
		pairs = append(pairs, heading, lang.CLI(heading))
	}
	root.SetUsageTemplate(strings.NewReplacer(pairs...).Replace(root.UsageTemplate()))
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { helpIn(cmd, lang) })
	speakOne(root, lang)
}

func speakOne(cmd *cobra.Command, lang locale.Language) {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	cmd.Short = lang.CLI(cmd.Short)
	cmd.Long = lang.CLI(cmd.Long)
	eachFlag(cmd, func(_ string, text *string) { *text = flagHelp(*text, lang) })
	for _, inner := range cmd.Commands() {
		speakOne(inner, lang)
	}
}

var flagName = regexp.MustCompile(`--([a-z-]+)`)

// eachFlag calls f with the flags of a command, found by their names in its help.
func eachFlag(cmd *cobra.Command, f func(name string, text *string)) {
	flags := cmd.LocalFlags()
	for _, m := range flagName.FindAllStringSubmatch(flags.FlagUsages(), -1) {
		if flag := flags.Lookup(m[1]); flag != nil {
			f(flag.Name, &flag.Usage)
		}
	}
}

// flagHelp is the text of a flag; those of cobra's own flags have the name of the command in them.
func flagHelp(text string, lang locale.Language) string {
	for _, own := range []string{"help for %s", "version for %s"} {
		if name, ok := strings.CutPrefix(text, strings.TrimSuffix(own, "%s")); ok {
			return lang.Sprintf(own, name)
		}
	}
	return lang.CLI(text)
}

// helpIn prints what cobra's own function would.
func helpIn(cmd *cobra.Command, lang locale.Language) {
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	text := usual.ReplaceAllString(cmd.UsageString(), lang.CLI("(default $1)"))
	cmd.Print(strings.TrimSpace(about), "\n\n", text)
}
