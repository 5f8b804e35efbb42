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
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

func (c *command) printDescription(d env.EnvDescription) error {
	fmt.Fprintf(c.env.Out, "%s (%s)", line(cmp.Or(d.DisplayName, d.ID)), line(d.ID))
	if d.Version != "" {
		c.say(", version %s", line(d.Version))
	}
	fmt.Fprintln(c.env.Out)
	var has, lacks []string
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
	c.say("has    %s\nlacks  %s\n", c.orNone(has), c.orNone(lacks))
	if len(d.Profiles) == 0 {
		return nil
	}
	fmt.Fprintln(c.env.Out)
	return c.printProfiles(d.Profiles)
}

func (c *command) orNone(words []string) string {
	return cmp.Or(strings.Join(words, ", "), c.word("nothing"))
}

func (c *command) printProfiles(all []env.Profile) error {
	t := terminal.Table{Head: []string{"profile", "name", "primary agents", "sub agents"}, None: "no profiles"}
	for _, p := range all {
		t.Row(p.ID, p.DisplayName, agentIDs(p.PrimaryAgents), line(agentIDs(p.SubAgents)))
	}
	return c.print(&t)
}

func agentIDs(agents []env.AgentSpec) string {
	ids := make([]string, len(agents))
	for i, a := range agents {
		ids[i] = line(a.ID)
	}
	return cmp.Or(strings.Join(ids, ", "), "–")
}

func (c *command) printAgents(all []env.AgentSpec) error {
	t := terminal.Table{Head: []string{"agent", "role", "prompt", "tools"}, None: "no agents"}
	for _, a := range all {
		prompt := cmp.Or(line(a.PromptID), "–")
		if a.PromptOverride != "" {
			prompt = c.word("own")
		}
		tools := c.word("all")
		if a.AllowedTools != nil {
			tools = cmp.Or(line(strings.Join(a.AllowedTools, ", ")), c.word("none"))
		}
		if len(a.DeniedTools) > 0 {
			tools += c.lang.Sprintf(", not %s", line(strings.Join(a.DeniedTools, ", ")))
		}
		t.Row(a.ID, string(a.Role), prompt, line(tools))
	}
	return c.print(&t)
}

func (c *command) printLogs(logs []env.LogEntry) error {
	if len(logs) == 0 {
		err := c.say("no log entries\n")
		return err
	}
	for _, e := range logs {
		var who string
		for _, part := range []struct{ name, id string }{{"session", e.SessionID}, {"agent", e.AgentID}} {
			if part.id != "" {
				who += "  " + part.name + "=" + line(part.id)
			}
		}
		at := e.Timestamp.Local().Format(time.DateTime + ".000")
		if _, err := fmt.Fprintf(c.env.Out, "%s  %-5s  %s%s\n", at, line(string(e.Level)), line(e.Message), who); err != nil {
			return err
		}
	}
	return nil
}

func (c *command) printSessions(page env.SessionPage) error {
	t := terminal.Table{Head: []string{"session", "created", "updated", "title"}, None: "no sessions"}
	for _, s := range page.Sessions {
		t.Row(s.ID, s.Time.Created.Local().Format(time.DateTime), s.Time.Updated.Local().Format(time.DateTime), line(s.Title))
	}
	if err := c.print(&t); err != nil || page.NextCursor == "" {
		return err
	}
	err := c.say("more: --cursor %s\n", line(page.NextCursor))
	return err
}
