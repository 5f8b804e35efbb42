package e2e

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// runReplicas starts the built program as several gateways on one store, with the official server of
// both eras behind them, and a balancer before them.
func runReplicas(t *testing.T, n int) (all []*running, front *gateway) {
	t.Helper()
	return runReplicasOf(t, everythingServer(t, true), n)
}

// runReplicasOf is runReplicas with another server.
func runReplicasOf(t *testing.T, server string, n int) (all []*running, front *gateway) {
	t.Helper()
	path := write(t, lines("store: "+filepath.Join(t.TempDir(), "shared.db"))+bare(server))
	var urls []string
	for range n {
		addr := freeAddress(t)
		cmd := exec.Command(program(t), "serve", "--config", path, "--listen", addr)
		cmd.Env = append(os.Environ(), "TOOLFIT_SECRET_KEY="+replicaKey, "TOOLFIT_REPLICA_URL=http://"+addr)
		r := runCommand(t, cmd)
		all = append(all, r)
		urls = append(urls, r.url)
	}
	return all, balancer(t, urls...)
}

var watched = &mcp.SubscribeParams{URI: "test://watched-resource"}

// TestClientsGoOnWhenAReplicaIsKilled: of a session whose home was killed as well.
func TestClientsGoOnWhenAReplicaIsKilled(t *testing.T) {
	all, front := runReplicas(t, 3)
	heard := make(chan string, 100)
	var sessions []func()
	for range 3 {
		s := connectAs(t, overHTTP(front), eras["legacy"], hearing(heard))
		sessions = append(sessions, func() {
			t.Helper()
			for range 4 {
				if text := callText(t, s, "test_simple_text", map[string]any{}); text == "" {
					t.Error("no text")
				}
				if text := callText(t, s, "test_elicitation", map[string]any{"message": "who?"}); !strings.Contains(text, "accept") {
					t.Errorf("the server heard: %s", text)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if err := s.Subscribe(ctx, watched); err != nil {
				t.Error(err)
			}
		})
	}
	for _, use := range sessions {
		use()
	}
	all[0].Process.Kill()
	all[0].waitExit(t)
	for _, use := range sessions {
		use()
	}
}

// TestSubscriptionsOutliveTheirReplica: the client only opens its stream again.
func TestSubscriptionsOutliveTheirReplica(t *testing.T) {
	for name, how := range map[string]os.Signal{"killed": syscall.SIGKILL, "stopped": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			server := newCurious(t)
			all, _ := runReplicasOf(t, server.url, 2)
			client := &httpClient{http: plainHTTP, url: all[0].url + "/mcp"}
			if _, err := client.request("initialize", asking); err != nil {
				t.Fatal(err)
			}
			client.streamed(t, all[0].url, "GET", "")
			client.url = all[1].url + "/mcp"
			eventually(t, "it is subscribed", func() bool {
				_, err := client.request("resources/subscribe", `{"uri":"test://watched"}`)
				return err == nil
			})
			all[0].Process.Signal(how)
			all[0].waitExit(t)
			in := bufio.NewReader(client.streamed(t, all[1].url, "GET", "").Body)
			heard := make(chan struct{})
			go func() {
				defer close(heard)
				for data := ""; !strings.Contains(data, "test://watched"); { // it may hear of changed lists, too
					_, data = event(t, in)
				}
			}()
			eventually(t, "the client hears of the change", func() bool {
				server.ResourceUpdated(t.Context(), &mcp.ResourceUpdatedNotificationParams{URI: "test://watched"})
				select {
				case <-heard:
					return true
				default:
					return false
				}
			})
		})
	}
}

func TestTypeScriptClientsThroughABalancer(t *testing.T) {
	node := testparts.Need(t)
	_, front := runReplicas(t, 3)
	said := nodeClient(t, node, "client-v1.mjs", front.url+"/mcp")
	if said["tools"].(float64) < 20 || !strings.Contains(said["asked"].(string), "accept") {
		t.Errorf("SDK 1: %v", said)
	}
	for _, mode := range []string{"legacy", "auto", "modern"} {
		said := nodeClient(t, node, "client-v2.mjs", front.url+"/mcp", mode, "test_simple_text", "test_elicitation")
		if said["plain"] == "" || !strings.Contains(said["asked"].(string), "accept") {
			t.Errorf("SDK 2, %s: %v", mode, said)
		}
	}
}
