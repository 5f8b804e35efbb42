package config

import (
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
)

func TestTheMostSpecificDetachWins(t *testing.T) {
	const minute = Detach(time.Minute)
	for name, c := range map[string]struct {
		levels []Detach // tool, server, profile, top level
		want   Detach
	}{
		"nothing is set":           {[]Detach{0, 0, 0, 0}, DetachAuto},
		"no levels":                {nil, DetachAuto},
		"the top level":            {[]Detach{0, 0, 0, minute}, minute},
		"a profile over it":        {[]Detach{0, 0, DetachOff, minute}, DetachOff},
		"a server over a profile":  {[]Detach{0, minute, DetachOff, DetachOff}, minute},
		"a tool over all":          {[]Detach{DetachOff, minute, minute, minute}, DetachOff},
		"auto is a setting itself": {[]Detach{DetachAuto, minute, DetachOff, DetachOff}, DetachAuto},
	} {
		if got := ResolveDetach(c.levels...); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestParseDetach(t *testing.T) {
	for in, want := range map[string]Detach{
		"auto": DetachAuto, "off": DetachOff, "1s": Detach(time.Second), "50s": Detach(50 * time.Second), "1h": Detach(time.Hour),
		"": 0, "on": 0, "Auto": 0, "50": 0, "0": 0, "0s": 0, "-5s": 0, "999ms": 0, "1h0m1s": 0, "1d": 0, "true": 0, "五十秒": 0,
	} {
		got, wrong := parseDetach(in)
		if got != want || (wrong == "") != (want != 0) {
			t.Errorf("%q: got %d, %s", in, got, wrong)
		}
		if want != 0 && got.String() != in {
			t.Errorf("%q is written as %q", in, got)
		}
	}
}

func TestADetachThatCannotBe(t *testing.T) {
	const fix = "expected auto, off, or a duration from 1s to 1h, such as 50s"
	for text, want := range map[string]string{
		"\ndetach: on\n":                                  "toolfit.yaml:2: detach: " + fix,
		"detach: 50\n":                                    "toolfit.yaml:1: detach: " + fix,
		"detach: [50s]\n":                                 "toolfit.yaml:1: detach: expected text, got a list",
		"profiles:\n  p:\n    detach: 2h\n":               "toolfit.yaml:3: profiles.p.detach: " + fix,
		"mcpServers: {a: {command: x, detach: 1ms}}\n":    "toolfit.yaml:1: mcpServers.a.detach: " + fix,
		"apis:\n  a:\n    spec: x.json\n    detach: {}\n": "toolfit.yaml:4: apis.a.detach: expected text, got a mapping",
		"overrides:\n  - {tool: a, detach: never}\n":      "toolfit.yaml:2: overrides[0].detach: " + fix,
	} {
		if _, err := Parse("toolfit.yaml", []byte(text), nil); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestALaterOverrideDecidesWhenCallsDetach(t *testing.T) {
	cfg := parse(t, "toolfit.yaml", `overrides:
  - {tool: "a__*", detach: 10s}
  - {tool: a__b, retry: 1}
  - {tool: a__c, detach: off}
`)
	for name, want := range map[string]Detach{"a__b": Detach(10 * time.Second), "a__c": DetachOff} {
		if got := cfg.OverrideFor("default", tool.Name(name)).Detach; got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestATimeoutIsSetOnlyByTheFile(t *testing.T) {
	cfg := parse(t, "toolfit.yaml", "mcpServers: {a: {command: x}, b: {command: x, timeout: 1m}}\napis: {c: {spec: x.json}}\n")
	for i, want := range []time.Duration{0, time.Minute, 0} {
		if s := cfg.Servers[i]; s.Timeout != want || s.CallTimeout() != time.Minute {
			t.Errorf("%s: %s, %s", s.ID, s.Timeout, s.CallTimeout())
		}
	}
}
