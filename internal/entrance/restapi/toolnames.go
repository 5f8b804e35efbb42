package restapi

import "github.com/toolfit/toolfit/internal/state/access"

// ToolName is what people find a tool by.
type ToolName struct {
	Name        string
	Description string
}

// ToolNames lists the tools of the caller's own profile.
func (a *API) ToolNames(who access.Principal) ([]ToolName, error) {
	v, err := a.viewOf(who, "")
	if err != nil {
		return nil, err
	}
	names := make([]ToolName, len(v.Entries))
	for i, e := range v.Entries {
		names[i] = ToolName{e.Shown, e.Description()}
	}
	return names, nil
}
