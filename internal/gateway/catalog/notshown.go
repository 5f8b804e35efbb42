package catalog

import "github.com/toolfit/toolfit/internal/base/tool"

// Reason is why a profile does not show a tool that a server lists.
type Reason string

const (
	NotApproved  Reason = "held until approved"
	KeptOut      Reason = "kept out"
	NotInProfile Reason = "not in the profile"
	Hidden       Reason = "hidden by an override"
	BadOverride  Reason = "their override cannot be applied"
	SecondName   Reason = "listed under another name already"
	Denied       Reason = "denied by the policy"
	LacksTools   Reason = "using tools that the profile does not have"
	ToolsChanged Reason = "using tools that have changed since they were saved"
)

// NotShown is a tool that a server lists and the profile does not show.
type NotShown struct {
	Server tool.ServerID `json:"server"`
	Tool   string        `json:"tool"` // as the server calls it
	Reason Reason        `json:"reason"`
}

// NotShown are the tools of the servers that the profile does not show, in their order.
func (v *View) NotShown() (list []NotShown) {
	for _, p := range v.parts {
		if p != nil {
			list = append(list, p.notShown...)
		}
	}
	return list
}
