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

// suggestFlags say what is done with what is proposed.
type suggestFlags struct{ shadow, on bool }

func (c *command) suggest() *cobra.Command {
	var flags askFlags
	var do suggestFlags
	cmd := &cobra.Command{
		Use: "suggest [TOOL]", Short: "Propose rules for results from recorded calls",
		Long: "Propose rules for results from recorded calls: which fields were used in later arguments or fetched again,\n" +
			"against what the others cost. What a model told its user is not on record, so read what would be left out.\n" +
			"Calls are learned from when their results are kept: resultStore: all sees the most.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("suggest takes one tool, or none")
			}
			if do.on && do.shadow {
				return usage("give --shadow or --on, not both")
			}
			if (do.on || do.shadow) && len(args) == 0 {
				return usage("--shadow and --on take the tool whose rule is to be stored")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			q := url.Values{}
			if len(args) > 0 {
				q.Set("tool", args[0])
			}
			return c.ask(cmd.Context(), flags, func(g *gateway) error {
				defer c.waiting("replaying the record")()
				var list restapi.SuggestionList
				if err := g.do(cmd.Context(), http.MethodGet, "/suggestions", q, nil, &list); err != nil {
					return err
				}
				if do.on || do.shadow {
					return c.storeSuggestions(cmd, g, list, do)
				}
				if c.json {
					return c.printJSON(list)
				}
				return c.printSuggestions(list)
			})
		},
	}
	flags.addGateway(cmd)
	cmd.Flags().BoolVar(&do.shadow, "shadow", false, "store the rule in shadow: it is counted, and results are sent whole")
	cmd.Flags().BoolVar(&do.on, "on", false, "store the rule and switch it on")
	return cmd
}

func (c *command) printSuggestions(list restapi.SuggestionList) error {
	out := c.env.Out
	if len(list.Suggestions) == 0 {
		fmt.Fprintf(out, "nothing to propose from %s\n", count(list.Conversations, "conversation"))
		if list.Conversations == 0 {
			fmt.Fprintln(out, "set resultStore: all to learn from calls of which nothing was left out")
		}
	}
	for i, s := range list.Suggestions {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%s%s\n  keep: %s\n  %s\n", s.Tool, line(whenText(s.When)), line(s.Keep), line(s.Text))
		if dropped := droppedText(s.Fields); dropped != "" {
			fmt.Fprintf(out, "  leaves out: %s\n", line(dropped))
		}
		fmt.Fprintf(out, "  %s\n", stageText(s))
	}
	if list.Blind > 0 {
		fmt.Fprintf(out, "\nin %d of %s the arguments of some calls were not kept; with resultStore: all nothing used is overlooked\n",
			list.Blind, count(list.Conversations, "conversation"))
	}
	return nil
}

func whenText(when map[string]any) string {
	if len(when) == 0 {
		return ""
	}
	var parts []string
	for name, value := range when {
		parts = append(parts, fmt.Sprintf("%s=%v", name, value))
	}
	slices.Sort(parts)
	return " when " + strings.Join(parts, ", ")
}

// droppedText names the largest fields that would go, with why.
func droppedText(fields []restapi.SuggestedPath) string {
	const most = 5
	gone := slices.DeleteFunc(slices.Clone(fields), func(f restapi.SuggestedPath) bool { return f.Kept })
	slices.SortStableFunc(gone, func(a, b restapi.SuggestedPath) int { return int(1e6*b.Share) - int(1e6*a.Share) })
	var parts []string
	for _, f := range gone[:min(most, len(gone))] {
		parts = append(parts, fmt.Sprintf("%s (%.0f %%, %s)", f.Path, 100*f.Share, f.Why))
	}
	if more := len(gone) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// stageText says what to do with a proposal.
func stageText(s restapi.Suggestion) string {
	switch {
	case s.Stage == suggest.OfferOn:
		return fmt.Sprintf("switch it on with: toolfit suggest %s --on", s.Tool)
	case s.Stage == suggest.Shadow:
		return fmt.Sprintf("watch what it would do with: toolfit suggest %s --shadow", s.Tool)
	case s.Missed > 0:
		return "not yet: it would have hidden values that were used"
	}
	return fmt.Sprintf("not yet: %s on record, %d are needed", count(s.Conversations, "conversation"), suggest.LeastPropose)
}

// storeSuggestions stores what was proposed for a tool, one rule for each kind of call. What
// the record does not carry yet is said, and is the fault where it is all.
func (c *command) storeSuggestions(cmd *cobra.Command, g *gateway, list restapi.SuggestionList, do suggestFlags) error {
	if len(list.Suggestions) == 0 {
		return fault.New(fault.NotFound, "nothing to propose from %s", count(list.Conversations, "conversation"))
	}
	mode := project.Shadow
	if do.on {
		mode = project.On
	}
	stored := restapi.RuleList{Rules: []restapi.Rule{}}
	var lines []string
	for _, s := range list.Suggestions {
		if !s.Stage.Carries(mode) {
			lines = append(lines, fmt.Sprintf("%s%s is not stored: %s", s.Tool, whenText(s.When), stageText(s)))
			continue
		}
		body, err := s.RuleConfig(mode)
		if err != nil {
			return fmt.Errorf("encode the rule for %s: %w", s.Tool, err)
		}
		var rule restapi.Rule
		if err := g.do(cmd.Context(), http.MethodPut, "/rules/"+url.PathEscape(s.RuleID()), nil, body, &rule); err != nil {
			return err
		}
		stored.Rules = append(stored.Rules, rule)
		lines = append(lines, fmt.Sprintf("%s is %s: %s", rule.ID, rule.Mode, s.Text))
	}
	if len(stored.Rules) == 0 {
		s := list.Suggestions[0]
		return fault.New(fault.Conflict, "the record does not carry a rule for %s%s that is %s", s.Tool, whenText(s.When), mode).WithHint("%s", stageText(s))
	}
	if c.json {
		return c.printJSON(stored)
	}
	fmt.Fprintln(c.env.Out, strings.Join(lines, "\n"))
	return nil
}
