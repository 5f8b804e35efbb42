package config

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestTheGuidesListOfAllKeysLoadsAndLacksNone(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(guide), "```yaml\n")
	text, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the guide has no configuration")
	}
	set := func(string) (string, bool) { return "x", true }
	if _, err := Parse("guide.yaml", []byte(text), set); err != nil {
		t.Error(err)
	}
	raw, err := os.ReadFile("config.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type keys struct{ Properties map[string]json.RawMessage }
	var schema struct {
		keys
		Defs struct{ Profile keys } `json:"$defs"`
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	for key := range schema.Properties {
		if !regexp.MustCompile(`(?m)^(# )?` + regexp.QuoteMeta(key) + `:`).MatchString(text) {
			t.Errorf("the guide's list of all keys lacks %s", key)
		}
	}
	for key := range schema.Defs.Profile.Properties {
		if !regexp.MustCompile(`(?m)^    ` + regexp.QuoteMeta(key) + `:`).MatchString(text) {
			t.Errorf("the guide's list of all keys lacks %s of a profile", key)
		}
	}
}

func TestConfigurationsOfTheIdentityGuideLoad(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/identity.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(guide), "```yaml\n")[1:]
	if len(blocks) < 10 {
		t.Fatalf("only %d configurations", len(blocks))
	}
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		cfg, err := Parse("identity.yaml", []byte(text), func(string) (string, bool) { return "x", true })
		if err != nil {
			t.Errorf("%v\n%s", err, text)
		} else if len(cfg.Identity) == 0 {
			t.Errorf("no identity provider in\n%s", text)
		}
	}
}

func TestConfigurationsOfTheConnectionsGuideLoad(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/connections.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(guide), "```yaml\n")[1:]
	if len(blocks) < 9 {
		t.Fatalf("only %d configurations", len(blocks))
	}
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		cfg, err := Parse("connections.yaml", []byte(text), func(string) (string, bool) { return "x", true })
		if err != nil {
			t.Errorf("%v\n%s", err, text)
			continue
		}
		for _, s := range cfg.Servers {
			if s.OAuth == nil {
				t.Errorf("%s has no oauth in\n%s", s.ID, text)
			}
		}
	}
}
