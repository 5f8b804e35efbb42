package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/suggest"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

type suggestFlags struct{ shadow, on bool }

func (c *command) suggest() *cobra.Command {
	var flags askFlags
	var do suggestFlags
	cmd := &cobra.Command{
		Use: "suggest [TOOL]", Short: "Suggest rules for results, based on recorded calls",
		Example: `  toolfit suggest
  toolfit suggest shop__list_orders --shadow`,
		Long: "Suggest rules for results, based on recorded calls: keep fields that were used in later arguments or fetched again,\n" +
			"drop the others. What a model told its user is not recorded, so check what would be left out.\n" +
			"Only calls whose results are stored count: with resultStore: all, that is every call.",
		Args: takes(0, 1, "at most one tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q := url.Values{}
			switch {
			case do.on && do.shadow:
				return usage("use either --shadow or --on")
			case len(args) > 0:
				q.Set("tool", args[0])
			case do.on || do.shadow:
				return usage("--shadow and --on need the tool whose rule to store")
			}
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				defer c.waiting("analyzing recorded calls")()
				var list restapi.SuggestionList
				if err := g.do(cmd.Context(), request{path: "/suggestions", query: q}, &list); err != nil {
					return err
				}
				if do.on || do.shadow {
					return c.storeSuggestions(cmd, g, list, do)
				}
				return c.show(list, func() error { return c.printSuggestions(list) })
			})
		},
	}
	flags.addGateway(cmd)
	cmd.Flags().BoolVar(&do.shadow, "shadow", false, "store the rule in shadow mode: results are sent whole, savings are counted")
	cmd.Flags().BoolVar(&do.on, "on", false, "store the rule and turn it on")
	return cmd
}

func (c *command) printSuggestions(list restapi.SuggestionList) error {
	if len(list.Suggestions) == 0 {
		c.say("nothing to suggest from %s\n", c.count(list.Conversations, "conversation"))
		if list.Conversations == 0 {
			c.say("set resultStore: all to learn from calls whose results were sent whole\n")
		}
	}
	for i, s := range list.Suggestions {
		if i > 0 {
			fmt.Fprintln(c.env.Out)
		}
		c.say("%s%s\n  keep: %s\n  %s\n", s.Tool, line(c.whenText(s.When)), line(s.Keep), line(c.translate(s.Text)))
		if dropped := c.droppedText(s.Fields); dropped != "" {
			c.say("  leaves out: %s\n", line(dropped))
		}
		c.say("  %s\n", c.stageText(s))
	}
	for i, text := range c.noneTexts(list.None) {
		if i == 0 && len(list.Suggestions) > 0 {
			c.say("\nno suggestion for\n")
		}
		c.say("  %s\n", line(text))
	}
	if list.Blind > 0 {
		c.say("\nin %d of %s some calls were not seen: those that failed, and without resultStore: all those whose results were given whole\n",
			list.Blind, c.count(list.Conversations, "conversation"))
	}
	return nil
}

// noneTexts says why there are no suggestions, for as many tools as are read at a glance.
func (c *command) noneTexts(none []restapi.NotLearned) (texts []string) {
	const most = 20
	for _, n := range none[:min(most, len(none))] {
		texts = append(texts, fmt.Sprintf("%s%s: %s", n.Tool, c.whenText(n.When), c.translate(n.Why)))
	}
	if more := len(none) - len(texts); more > 0 {
		texts = append(texts, c.lang.Sprintf("and %d more", more))
	}
	return texts
}

func (c *command) whenText(when map[string]any) string {
	if len(when) == 0 {
		return ""
	}
	var parts []string
	for name, value := range when {
		parts = append(parts, fmt.Sprintf("%s=%v", name, value))
	}
	slices.Sort(parts)
	return c.lang.Sprintf(" when %s", strings.Join(parts, ", "))
}

func (c *command) droppedText(fields []restapi.SuggestedPath) string {
	const most = 5
	gone := slices.DeleteFunc(slices.Clone(fields), func(f restapi.SuggestedPath) bool { return f.Kept })
	slices.SortStableFunc(gone, func(a, b restapi.SuggestedPath) int { return int(1e6*b.Share) - int(1e6*a.Share) })
	var parts []string
	for _, f := range gone[:min(most, len(gone))] {
		parts = append(parts, fmt.Sprintf("%s (%.0f %%, %s)", f.Path, 100*f.Share, c.translate(f.Why)))
	}
	if more := len(gone) - len(parts); more > 0 {
		parts = append(parts, c.lang.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

func (c *command) stageText(s restapi.Suggestion) string {
	switch {
	case s.Stage == suggest.OfferOn:
		return c.lang.Sprintf("turn it on with: toolfit suggest %s --on", s.Tool)
	case s.Stage == suggest.Shadow && s.DropsText != "":
		return c.lang.Sprintf("it leaves out a text, %s, which may be what the tool is for; see what is fetched again in shadow mode: "+
			"toolfit suggest %s --shadow", line(s.DropsText), s.Tool)
	case s.Stage == suggest.Shadow:
		return c.lang.Sprintf("try it in shadow mode with: toolfit suggest %s --shadow", s.Tool)
	case s.Missed > 0:
		return c.word("not yet: it would have dropped values that were used")
	}
	return c.lang.Sprintf("not yet: %s recorded, %d needed", c.count(s.Conversations, "conversation"), suggest.LeastPropose)
}

// storeSuggestions stores the suggested rules for a tool, one for each kind of call. Those
// without enough evidence are listed; it is an error if there are no others.
func (c *command) storeSuggestions(cmd *cobra.Command, g *gateway, list restapi.SuggestionList, do suggestFlags) error {
	if len(list.Suggestions) == 0 {
		return fault.New(fault.NotFound, "nothing to suggest from %s", c.count(list.Conversations, "conversation")).
			WithHint("%s", strings.Join(c.noneTexts(list.None), "; "))
	}
	mode := project.Shadow
	if do.on {
		mode = project.On
	}
	stored := restapi.RuleList{Rules: []restapi.Rule{}}
	var lines []string
	for _, s := range list.Suggestions {
		if !s.Stage.Carries(mode) {
			lines = append(lines, c.lang.Sprintf("%s%s is not stored: %s", s.Tool, c.whenText(s.When), c.stageText(s)))
			continue
		}
		body, err := s.RuleConfig(mode)
		if err != nil {
			return fmt.Errorf("encode the rule for %s: %w", s.Tool, err)
		}
		var rule restapi.Rule
		if err := g.do(cmd.Context(), request{http.MethodPut, "/rules/" + url.PathEscape(s.RuleID()), nil, body}, &rule); err != nil {
			return err
		}
		stored.Rules = append(stored.Rules, rule)
		lines = append(lines, c.lang.Sprintf("%s is %s: %s", rule.ID, rule.Mode, c.translate(s.Text)))
	}
	if len(stored.Rules) == 0 {
		s := list.Suggestions[0]
		return fault.New(fault.Conflict, "not enough evidence for a rule for %s%s in mode %s", s.Tool, c.whenText(s.When), mode).
			WithHint("%s", c.stageText(s))
	}
	return c.printf(stored, "%s\n", strings.Join(lines, "\n"))
}
