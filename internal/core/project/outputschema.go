package project

import "github.com/toolfit/toolfit/internal/core/project/mask"

// OutputSchema is the output schema to advertise when the rules may apply to results; nil when there
// is none, as for jq programs. always: one of the rules applies to every call.
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
