package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolfit/toolfit/internal/program/cli"
)

// manual are the man pages: one for each command that help lists.
func manual(version string, at time.Time) (pages []file, err error) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		pages = append(pages, file{name: name + ".1", mode: 0o644, data: page(cmd, name, version, at)})
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				walk(sub)
			}
		}
	}
	root := cli.Commands()
	root.InitDefaultCompletionCmd()
	walk(root)
	return pages, nil
}

// page is one man page.
func page(cmd *cobra.Command, name, version string, at time.Time) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %s 1 %s \"toolfit %s\" \"toolfit manual\"\n", strings.ToUpper(roff(name)), at.Format(time.DateOnly), version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n\\fB%s\\fR\n", roff(cmd.UseLine()))
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	b.WriteString(".SH DESCRIPTION\n")
	prose(&b, long)
	options(&b, "OPTIONS", cmd.NonInheritedFlags())
	options(&b, "GLOBAL OPTIONS", cmd.InheritedFlags())
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(strings.Trim(cmd.Example, "\n")))
	}
	var related []string
	if cmd.HasParent() {
		related = append(related, cmd.Parent().CommandPath())
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			related = append(related, sub.CommandPath())
		}
	}
	for i, path := range related {
		related[i] = "\\fB" + roff(strings.ReplaceAll(path, " ", "-")) + "\\fR(1)"
	}
	if len(related) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(related, ",\n"))
	}
	return b.Bytes()
}

func options(b *bytes.Buffer, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		b.WriteString(".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(b, "\\fB\\-%s\\fR, ", f.Shorthand)
		}
		fmt.Fprintf(b, "\\fB\\-\\-%s\\fR", roff(f.Name))
		if value != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
		}
		fmt.Fprintf(b, "\n%s\n", roff(usage))
	})
}

// prose writes paragraphs; lines that are indented stay as they are.
func prose(b *bytes.Buffer, text string) {
	for _, part := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if strings.HasPrefix(part, " ") || strings.Contains(part, "\n ") {
			fmt.Fprintf(b, ".PP\n.nf\n%s\n.fi\n", roff(part))
			continue
		}
		fmt.Fprintf(b, ".PP\n%s\n", roff(part))
	}
}

// roff keeps text from being taken for commands of the formatter.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// completions are the scripts of the shells.
func completions() (files []file, err error) {
	root := cli.Commands()
	for _, shell := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"toolfit.bash", func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
		{"toolfit.fish", func(w io.Writer) error { return root.GenFishCompletion(w, true) }},
		{"toolfit.ps1", root.GenPowerShellCompletionWithDesc},
		{"_toolfit", root.GenZshCompletion},
	} {
		var b bytes.Buffer
		if err := shell.write(&b); err != nil {
			return nil, fmt.Errorf("completion %s: %w", shell.name, err)
		}
		files = append(files, file{name: shell.name, mode: 0o644, data: b.Bytes()})
	}
	return files, nil
}
