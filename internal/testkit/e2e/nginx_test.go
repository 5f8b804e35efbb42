package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// nginx starts one with directives for its one location and for what is around it. It returns its host and port.
func nginx(t *testing.T, around, location string) (front string) {
	t.Helper()
	program := testparts.NeedProgram(t, "nginx", "the Debian package is nginx")
	dir := t.TempDir()
	front = freeAddress(t)
	conf := fmt.Sprintf("daemon off; pid %[1]s/pid; error_log %[1]s/log; events {}\nhttp { access_log off; client_body_temp_path %[1]s/b; "+
		"proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s; %[2]s "+
		"server { listen %[3]s; location / { %[4]s } } }\n", dir, around, front, location)
	if os.Geteuid() == 0 {
		conf = "user root; " + conf // workers are of the same user, which is the harder case
	}
	file := filepath.Join(dir, "nginx.conf")
	rewrite(t, file, conf)
	cmd := exec.Command(program, "-p", dir, "-c", file, "-e", filepath.Join(dir, "log"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Signal(os.Interrupt); cmd.Wait() })
	eventually(t, "nginx listens", func() bool {
		c, err := net.Dial("tcp", front)
		if err != nil {
			return false
		}
		return c.Close() == nil
	})
	return front
}

// nginxBalancer is an nginx that sends each request to the next gateway, as its manual shows it. What does not
// answer is left out; a request that may have acted is not sent again.
func nginxBalancer(t *testing.T, hosts ...string) string {
	t.Helper()
	around := "upstream gateways {"
	for _, host := range hosts {
		around += " server " + host + " max_fails=0;"
	}
	return "http://" + nginx(t, around+" }", "proxy_pass http://gateways; proxy_http_version 1.1; proxy_set_header Connection \"\"; "+
		"proxy_set_header Host $http_host; proxy_buffering off; proxy_read_timeout 1h;")
}
