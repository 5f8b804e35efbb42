package cli

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/program/demo"
)

// demoActions are the rest of the demo's configuration: an HTTP API, and an action for a
// tool of a server and for an operation of the API.
const demoActions = `
apis:
  parcels: {spec: parcels.json, base: "http://%s", layout: layered}
recall:
  actions:
    - {kn_id: shop, at_id: show_category, mcp_id: shop, tool_name: category_tree}
    - {kn_id: shop, at_id: change_address, tool: parcels__changeAddress, parameters: {notify: true}}
`

// serveParcels serves the demo's HTTP API on this machine until stop is called, and says
// what the configuration in the folder needs for it.
func serveParcels(dir string) (text string, stop func(), err error) {
	if err := os.WriteFile(filepath.Join(dir, "parcels.json"), demo.ParcelsSpec, 0o600); err != nil {
		return "", nil, fmt.Errorf("write the demo's API: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("serve the demo's API: %w", err)
	}
	srv := &http.Server{Handler: demo.Parcels(), ReadHeaderTimeout: 10 * time.Second}
	var serving sync.WaitGroup
	serving.Go(func() { srv.Serve(l) }) // ends by Close alone
	stop = func() {
		srv.Close()
		serving.Wait()
	}
	return fmt.Sprintf(demoActions, l.Addr()), stop, nil
}
