package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	pages "github.com/toolfit/toolfit/docs/errors"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/spelling"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

func (c *command) explainCode() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Explain an error code: what it means, its causes, what to do; without a code, list them",
		Example: `  toolfit explain
  toolfit explain upstream_down
  toolfit explain unknown_outcome --json`,
		Args: takes(0, 1, "the code of an error"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.listCodes(pages.All(c.lang))
			}
			page, ok := pages.Of(fault.Code(args[0]), c.lang)
			if !ok {
				return unknownCode(args[0], pages.All(c.lang))
			}
			t := terminal.Table{Wraps: true}
			t.Row(page.Text)
			return c.show(page, func() error { return c.print(&t) })
		},
	}
}

func (c *command) listCodes(all []pages.Page) error {
	t := terminal.Table{Head: []string{"CODE", "MEANING"}}
	for i := range all {
		all[i].Text = ""
		t.Row(string(all[i].Code), all[i].Summary)
	}
	return c.show(map[string]any{"codes": all}, func() error { return c.print(&t) })
}

// unknownCode names the code that is nearest to what was written.
func unknownCode(word string, all []pages.Page) error {
	word = strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(word))
	distance := func(p pages.Page) int { return spelling.Edits(word, string(p.Code), spelling.MaxLetters) }
	nearest := slices.MinFunc(all, func(a, b pages.Page) int { return cmp.Compare(distance(a), distance(b)) })
	if distance(nearest) <= max(2, len(word)/3) {
		return usage("there is no code %q; did you mean: toolfit explain %s", word, nearest.Code)
	}
	return usage("there is no code %q; list them with: toolfit explain", word)
}

// explained is the code whose page tells more about an error; "" for none. Wrong usage says itself what is right, and who
// canceled something knows why.
func explained(err error) fault.Code {
	switch f := fault.As(err); f.Code {
	case fault.BadRequest, fault.Canceled, fault.Internal:
		return ""
	default:
		return f.Code
	}
}
