package inbound

import (
	"io"
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/toolfit/toolfit/internal/testparts"
)

// TestMain lets the test start itself as another user.
func TestMain(m *testing.M) {
	if at := os.Getenv("INBOUND_DIAL"); at != "" {
		c, err := net.Dial("tcp", at)
		if err != nil {
			os.Exit(1)
		}
		io.Copy(io.Discard, c) // until the other end closes
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestAnotherUserIsToldApart(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{"INBOUND_DIAL=" + tcp.Addr().String()}
	cmd.Dir = "/"
	testparts.AsNobody(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	conn, err := tcp.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := peer(conn.LocalAddr().String(), conn.RemoteAddr().String()); got != Another {
		t.Errorf("another user is %v", got)
	}
}
