package app

import (
	"path/filepath"
	"runtime"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/clients"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/clientfile"
	"github.com/toolfit/toolfit/internal/state/config"
)

// ServersOfClients reads the servers in the user's files of MCP clients, each once: one of the same name with other settings is
// named after its client, too. Files that cannot be read are left out; toolfit import says why.
func (a *App) ServersOfClients() (found []restapi.FoundServer) {
	if !filepath.IsAbs(a.opts.Home) {
		return nil
	}
	folders := clientfile.FoldersOf(runtime.GOOS, a.opts.Home, a.env)
	known := map[tool.ServerID]config.Server{}
	for _, one := range clients.WithFiles() {
		for _, path := range folders.Files(one) {
			contents, _, _ := clientfile.Find(path)
			for _, s := range contents.Servers {
				same, taken := known[s.ID]
				if clientfile.IsSelf(s) || taken && config.SameSettings(same, s) {
					continue
				}
				if taken {
					s.ID += tool.ServerID("-" + one.Name)
				}
				if _, taken := known[s.ID]; !taken {
					known[s.ID] = s
					found = append(found, restapi.FoundServer{Client: one.Title, Path: path, Config: s})
				}
			}
		}
	}
	return found
}
