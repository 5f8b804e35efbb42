package prompt

// Mode is how the tools of a profile are offered.
type Mode string

// The modes.
const (
	List   Mode = "list"   // every tool as it is
	Search Mode = "search" // a few tools, and a search for the others
)

// window is the assumed context of an unknown model, in tokens.
const window = 200_000

// Auto lists the tools if they take at most a twentieth of the context, in tokens. The mode
// only changes if the limit is passed by a fifth, so that a single tool rarely changes it.
func Auto(tokens, context int, was Mode) Mode {
	if context <= 0 {
		context = window
	}
	most := float64(context) / 20
	switch was {
	case List:
		most *= 1.2
	case Search:
		most *= .8
	}
	if float64(tokens) <= most {
		return List
	}
	return Search
}
