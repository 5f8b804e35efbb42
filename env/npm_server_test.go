package env_test

import (
	"bufio"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

func TestServersOfTheTypeScriptSDKAreAsked(t *testing.T) {
	node := testparts.Need(t)
	script, err := filepath.Abs("testdata/foreign-server.mjs")
	if err != nil {
		t.Fatal(err)
	}
	start := func(args ...string) *exec.Cmd {
		cmd := exec.Command(node.Program(), append([]string{script}, args...)...)
		cmd.Dir = node.Dir()
		return cmd
	}
	t.Run("pipes", func(t *testing.T) {
		c, err := env.Start(t.Context(), start())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		asksPlant(t, c)
	})
	t.Run("http", func(t *testing.T) {
		cmd := start("http")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait()
		defer in.Close() // which ends it
		lines := bufio.NewScanner(out)
		if !lines.Scan() {
			t.Fatal("the server names no address")
		}
		c, err := env.Dial(t.Context(), lines.Text(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		asksPlant(t, c)
	})
}

func asksPlant(t *testing.T, c *env.Client) {
	t.Helper()
	d, err := c.Description(t.Context())
	if err != nil || d.ID != "plant" || !d.Capabilities.Logs || !d.Capabilities.MCPTools || d.Capabilities.Sessions {
		t.Errorf("got %+v, %v", d, err)
	}
	p, err := c.Profile(t.Context(), "shift")
	if err != nil || p.DisplayName != "早班" || p.SubAgents[0].DeniedTools[0] != "stop_*" {
		t.Errorf("got %+v, %v", p, err)
	}
	subs, err := c.Agents(t.Context(), env.RoleSub, "")
	if err != nil || len(subs) != 1 || subs[0].ID != "hand" {
		t.Errorf("got %+v, %v", subs, err)
	}
	var none *env.NotFoundError
	if _, err := c.Agent(t.Context(), "无", ""); !errors.As(err, &none) || none.Kind != "Agent" || none.ID != "无" {
		t.Errorf("got %v", err)
	}
	if _, err := c.Profile(t.Context(), "night"); !errors.As(err, &none) || none.ID != "night" {
		t.Errorf("got %v", err)
	}
	east := time.FixedZone("", 8*60*60) // the server takes no other zone than UTC
	logs, err := c.Logs(t.Context(), env.LogQuery{Since: time.Date(2026, 1, 2, 11, 4, 6, 0, east), Limit: 10})
	if err != nil || len(logs) != 1 || logs[0].Message != "停了" || logs[0].ToolName != "stop_belt" {
		t.Errorf("got %+v, %v", logs, err)
	}
	if _, err := c.ListSessions(t.Context(), env.SessionFilter{}); !errors.Is(err, env.ErrNotOffered) {
		t.Errorf("got %v", err)
	}
}
