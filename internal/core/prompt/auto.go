package prompt

// Mode is how the tools of a profile are offered.
type Mode string

// The modes.
const (
	List   Mode = "list"   // every tool as it is
	Search Mode = "search" // a few tools, and a search for the others
)

// window is the context of a model that we know nothing about, in tokens.
const window = 200_000

// Auto chooses a mode by the share of the context that the tools would take, in tokens: up to
// a twentieth they are listed. was is the mode so far, "" at first: it is left only when the
// share has passed the border by a fifth, so that one tool more or less changes nothing.
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
