package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/base/visible"
)

// printDescription shows what an environment is.
func (c *command) printDescription(d env.EnvDescription) error {
	fmt.Fprintf(c.env.Out, "%s (%s)", line(cmp.Or(d.DisplayName, d.ID)), line(d.ID))
	if d.Version != "" {
		fmt.Fprintf(c.env.Out, ", version %s", line(d.Version))
	}
	fmt.Fprintln(c.env.Out)
	has, lacks := []string{}, []string{}
	raw, err := json.Marshal(d.Capabilities)
	if err != nil {
		return err
	}
	var all map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] == false || all[name] == nil {
			lacks = append(lacks, line(name))
		} else {
			has = append(has, line(name))
		}
	}
	fmt.Fprintf(c.env.Out, "has    %s\nlacks  %s\n", orNone(has), orNone(lacks))
	if len(d.Profiles) == 0 {
		return nil
	}
	fmt.Fprintln(c.env.Out)
	return c.printProfiles(d.Profiles)
}

func orNone(words []string) string { return cmp.Or(strings.Join(words, ", "), "nothing") }

func (c *command) printProfiles(all []env.Profile) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(c.env.Out, "no profiles")
		return err
	}
	var t table
	t.row("profile", "name", "primary agents", "sub agents")
	for _, p := range all {
		t.row(p.ID, p.DisplayName, agentIDs(p.PrimaryAgents), line(agentIDs(p.SubAgents)))
	}
	return t.print(c.env.Out)
}

func agentIDs(agents []env.AgentSpec) string {
	ids := make([]string, len(agents))
	for i, a := range agents {
		ids[i] = line(a.ID)
	}
	return cmp.Or(strings.Join(ids, ", "), "–")
}

func (c *command) printAgents(all []env.AgentSpec) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(c.env.Out, "no agents")
		return err
	}
	var t table
	t.row("agent", "role", "prompt", "tools")
	for _, a := range all {
		prompt := cmp.Or(line(a.PromptID), "–")
		if a.PromptOverride != "" {
			prompt = "its own"
		}
		tools := "all"
		if a.AllowedTools != nil {
			tools = cmp.Or(line(strings.Join(a.AllowedTools, ", ")), "none")
		}
		if len(a.DeniedTools) > 0 {
			tools += ", not " + line(strings.Join(a.DeniedTools, ", "))
		}
		t.row(a.ID, string(a.Role), prompt, line(tools))
	}
	return t.print(c.env.Out)
}

func (c *command) printLogs(logs []env.LogEntry) error {
	if len(logs) == 0 {
		_, err := fmt.Fprintln(c.env.Out, "no log entries")
		return err
	}
	for _, e := range logs {
		var who string
		for _, part := range []struct{ name, id string }{{"session", e.SessionID}, {"agent", e.AgentID}} {
			if part.id != "" {
				who += "  " + part.name + "=" + line(part.id)
			}
		}
		if _, err := fmt.Fprintf(c.env.Out, "%s  %-5s  %s%s\n", e.Timestamp.Local().Format(time.DateTime+".000"), line(string(e.Level)), line(e.Message), who); err != nil {
			return err
		}
	}
	return nil
}

func (c *command) printSessions(page env.SessionPage) error {
	if len(page.Sessions) == 0 {
		_, err := fmt.Fprintln(c.env.Out, "no sessions")
		return err
	}
	var t table
	t.row("session", "created", "updated", "title")
	for _, s := range page.Sessions {
		t.row(s.ID, s.Time.Created.Local().Format(time.DateTime), s.Time.Updated.Local().Format(time.DateTime), line(s.Title))
	}
	if err := t.print(c.env.Out); err != nil || page.NextCursor == "" {
		return err
	}
	_, err := fmt.Fprintf(c.env.Out, "there may be more: --cursor %s\n", line(page.NextCursor))
	return err
}

// oneLine has a space where a line ends.
var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ")

// line is text of a server as part of one line, as wide as it is shown.
func line(text string) string { return visible.Text(oneLine.Replace(text)) }
