package cli

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestTheVersionIsThatOfTheReleaseElseOfTheModule(t *testing.T) {
	module := func(version string) *debug.BuildInfo { return &debug.BuildInfo{Main: debug.Module{Version: version}} }
	for _, c := range []struct {
		release string
		info    *debug.BuildInfo
		want    string
	}{
		{"v0.1.0", module("v0.0.9"), "v0.1.0"},
		{"", module("v0.0.9"), "v0.0.9"},
		{"", module("(devel)"), "dev"},
		{"", module(""), "dev"},
		{"", nil, "dev"},
		{"v0.1.0", nil, "v0.1.0"},
	} {
		if got := buildOf(c.release, c.info).Version; got != c.want {
			t.Errorf("release %q, build %v: version %q, want %q", c.release, c.info, got, c.want)
		}
	}
}

func TestABuildTellsItsCommit(t *testing.T) {
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0123abc"}, {Key: "vcs.time", Value: "2026-11-18T10:00:00Z"},
		{Key: "vcs.modified", Value: "false"},
	}}
	if got := buildOf("v0.1.0", info).lines(); !strings.HasPrefix(got, "toolfit v0.1.0\ncommit  0123abc\ndate    2026-11-18T10:00:00Z\ngo      go") {
		t.Errorf("got %s", got)
	}
	info.Settings[3].Value = "true"
	if got := buildOf("v0.1.0", info).lines(); !strings.Contains(got, "commit  0123abc (modified)\n") {
		t.Errorf("got %s", got)
	}
}
