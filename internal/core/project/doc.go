// Package project turns a tool's full result into what its reader needs: the fields that a
// rule names, within a budget of tokens, in the shortest form. It takes and returns raw
// bytes: what it does not cut keeps its bytes, and a result of which nothing is left out
// comes back as it was. It never does I/O, never stores, and never fails a call: what it
// cannot read it passes on, and says so.
//
// The order of work: an error passes; else one rule's mask or program is applied to
// structuredContent and to every text block that is JSON; text is shaped; both are cut to
// the budget; and a note says what is missing and how to get it. It goes in two steps, so
// that the full bytes can be stored before the reader gets less:
//
//	cut := project.Plan(ctx, full, how)
//	ref := ""
//	if cut.Leaves() {
//		ref = keep(full)
//	}
//	return cut.Apply(ref)
package project
