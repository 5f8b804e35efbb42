package env_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/env"
)

// patience is with the machine: nothing here takes long.
const patience = 30 * time.Second

// program is this test as a server that behaves in one way.
func program(t *testing.T, way string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestBeAProgram$")
	cmd.Env = append(os.Environ(), "ENV_TEST_WAY="+way)
	return cmd
}

func TestBeAProgram(t *testing.T) {
	switch os.Getenv("ENV_TEST_WAY") {
	case "":
		t.Skip("it is a program of other tests")
	case "leaves":
		os.Exit(3)
	case "stays":
		select {}
	case "has a child":
		child := exec.Command(os.Args[0], "-test.run=^TestBeAProgram$")
		child.Env = append(os.Environ(), "ENV_TEST_WAY=stays")
		child.ExtraFiles = []*os.File{os.NewFile(3, "life")}
		server, err := env.NewServer(&shop{}, nil)
		if err == nil {
			err = child.Start()
		}
		if err == nil {
			err = server.Run(context.Background(), os.Stdin, os.Stdout)
		}
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
}

func TestAServerThatLeavesIsToldWithItsExit(t *testing.T) {
	_, err := env.Start(t.Context(), program(t, "leaves"))
	if err == nil || !strings.Contains(err.Error(), "the server has ended: exit status 3") {
		t.Errorf("got %v", err)
	}
}

func TestWhatAServerStartedEndsWithIt(t *testing.T) {
	life, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer life.Close()
	cmd := program(t, "has a child")
	cmd.ExtraFiles = []*os.File{held}
	c, err := env.Start(t.Context(), cmd)
	held.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Description(t.Context()); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	life.SetReadDeadline(time.Now().Add(patience))
	if _, err := life.Read(make([]byte, 1)); err != io.EOF { // nobody holds the other end
		t.Errorf("somebody is left: %v", err)
	}
}

func TestAServerThatDoesNotReadHoldsNobody(t *testing.T) {
	fromServer, toClient := io.Pipe()
	defer toClient.Close()
	_, toServer := io.Pipe() // nobody reads
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := env.NewClient(ctx, fromServer, toServer); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestTheLastWordsOfAServerAreHeard(t *testing.T) {
	for range 50 { // which of two is ready first must not matter
		fromServer, toClient := io.Pipe()
		fromClient, toServer := io.Pipe()
		go func() {
			defer toClient.Close()
			lines := bufio.NewScanner(fromClient)
			for id, answer := range []string{`{"protocolVersion":"2025-06-18"}`, "", `{"content":[{"type":"text","text":"bye"}]}`} {
				if lines.Scan(); answer != "" {
					fmt.Fprintf(toClient, `{"jsonrpc":"2.0","id":%d,"result":%s}`+"\n", id/2+1, answer)
				}
			}
		}()
		c, err := env.NewClient(t.Context(), fromServer, toServer)
		if err != nil {
			t.Fatal(err)
		}
		var text string
		if err := c.Call(t.Context(), "leave", struct{}{}, &text); err != nil || text != "bye" {
			t.Fatalf("got %q, %v", text, err)
		}
		c.Close()
	}
}

func TestAClosedClientSaysSo(t *testing.T) {
	server, err := env.NewServer(&shop{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	fromServer, toClient := io.Pipe()
	fromClient, toServer := io.Pipe()
	go server.Run(t.Context(), fromClient, toClient)
	c, err := env.NewClient(t.Context(), fromServer, toServer)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	if _, err := c.Description(t.Context()); err == nil || !strings.Contains(err.Error(), "the client was closed") {
		t.Errorf("got %v", err)
	}
}
