package catalog

import (
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Reason is why a profile does not show a tool that a server lists.
type Reason string

const (
	NotApproved  Reason = "held until approved"
	KeptOut      Reason = "kept out"
	NotInProfile Reason = "not in the profile"
	Hidden       Reason = "hidden by an override"
	BadOverride  Reason = "their override cannot be applied"
	SecondName   Reason = "listed under another name already"
)

// NotShown is a tool that a server lists and the profile does not show.
type NotShown struct {
	Server tool.ServerID `json:"server"`
	Tool   string        `json:"tool"` // as the server calls it
	Reason Reason        `json:"reason"`
}

// NotShown are the tools of the servers that the profile does not show, in their order.
func (v *View) NotShown() []NotShown { return v.notShown }

func (v *View) leaveOut(server tool.ServerID, name string, why Reason) {
	v.notShown = append(v.notShown, NotShown{server, name, why})
}

// addTools adds a server's tools that the profile may see.
func (v *View) addTools(cfg *config.Config, p config.Profile, s *known, ownNames map[string]bool) {
	id := s.cfg.ID
	seen := s.protocol(ownNames)
	detach := config.ResolveDetach(s.cfg.Detach, p.Detach, cfg.Detach)
	for _, def := range s.offer.Tools {
		name := tool.Canonical(id, def.Name)
		h, held := s.held[pin{ToolKind, def.Name}]
		switch {
		case !access.Sees(p, id, name):
			v.leaveOut(id, def.Name, NotInProfile)
		case h.out:
			v.leaveOut(id, def.Name, KeptOut)
		case held:
			v.leaveOut(id, def.Name, NotApproved)
		case !seen.first(def.Name):
			v.leaveOut(id, def.Name, SecondName)
		default:
			v.addTool(cfg, &Entry{Name: name, Server: id, Definition: def, twin: seen.twin(def.Name), Detach: detach, Tasks: def.TaskSupport()}, s)
		}
	}
}
