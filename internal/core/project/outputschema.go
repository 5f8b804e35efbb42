package project

import "github.com/toolfit/toolfit/internal/core/project/mask"

// OutputSchema is what to advertise of a tool's output schema when the rules may apply to
// its results: what is sent fits it. It is nil when none can be advertised: a program may
// make anything, and some schemas cannot say what is left. Always says that one of the rules
// applies to every call; a budget may cut rows and strings of any result.
func OutputSchema(schema []byte, rules []*Active, always bool, budget int) []byte {
	cuts := mask.Cuts{Whole: !always, Budget: budget > 0, Note: Omitted}
	for _, r := range rules {
		switch {
		case r.Program != nil:
			return nil
		case r.Mask != nil:
			cuts.Masks = append(cuts.Masks, r.Mask)
		default:
			cuts.Whole = true
		}
		cuts.Budget = cuts.Budget || r.Budget > 0
	}
	if len(cuts.Masks) == 0 && !cuts.Budget {
		return schema
	}
	return mask.Schema(schema, cuts)
}
