package toolcall

import "strings"

type kind int

const (
	isText kind = iota
	mayBecome
	isCall  // the tag that opens a call, maybe behind the beginning of a fence
	isFence // a fence that says itself that a call is in it
	isBare  // a call in tags, with nothing around it
	isResult
	isThought
	endsThought // without a beginning
)

// mark is what a text begins with.
type mark struct {
	kind    kind
	size    int    // how many bytes of the text are that
	closing string // what ends the call that it opens
}

const (
	// maxFence limits the blanks and words of a fence before a call.
	maxFence = 64
	// maxHead limits the opening tag of a tagged call.
	maxHead = 128
)

// look tells what a text begins with.
func (r *Reader) look(text string) mark {
	calls := mark{isText, 1, ""}
	if !r.Uncalled {
		calls = r.lookCall(text)
	}
	if calls.kind == isText && r.called && !r.thought.spoken() {
		calls = lookResult(text)
	}
	if calls.kind != isText || text[0] != '<' {
		return calls
	}
	kind, size := r.thought.look(text)
	return mark{kind, size, ""}
}

func (r *Reader) lookCall(text string) mark {
	rest := text
	if text[0] == '`' {
		if n := len(text); n < len(fence) && text == fence[:n] {
			return mark{kind: mayBecome}
		}
		if !strings.HasPrefix(text, fence) {
			return lookQuoted(text)
		}
		rest = strings.TrimLeft(text[len(fence):], letters)
		if word := text[len(fence) : len(text)-len(rest)]; word == "tool_call" && strings.HasPrefix(rest, "\n") {
			return mark{isFence, len(text) - len(rest) + 1, closing}
		}
		rest = strings.TrimLeft(rest, blanks)
	}
	before := len(text) - len(rest)
	m := lookTag(rest)
	if m.kind == isText && (before > 0 || !r.thought.spoken()) {
		m = lookTagged(rest)
	}
	switch {
	case m.kind == mayBecome && (len(rest) >= maxHead || before >= maxFence):
		return mark{isText, 1, ""}
	case m.kind == isText || m.kind == mayBecome:
		return m
	}
	m.size += before
	return m
}

// lookTag looks for the opening tag, whose bracket may be missing before an object.
func lookTag(text string) mark {
	after, ok := strings.CutPrefix(text, opening[:len(opening)-1])
	object := strings.TrimLeft(after, blanks)
	switch {
	case ok && strings.HasPrefix(after, ">"):
		return mark{isCall, len(opening), closing}
	case ok && strings.HasPrefix(object, "{"):
		return mark{isCall, len(text) - len(object), closing}
	case ok && object == "", strings.HasPrefix(opening, text):
		return mark{mayBecome, 1, ""}
	}
	return mark{isText, 1, ""}
}

// wrappers are tags that some models write around tagged calls.
var wrappers = []struct{ opening, closing string }{
	{"<function_calls>", "</function_calls>"},
	{"<minimax:tool_call>", "</minimax:tool_call>"},
}

// lookTagged looks for a tagged call, alone or in a wrapper.
func lookTagged(text string) mark {
	for _, w := range wrappers {
		inside, ok := strings.CutPrefix(text, w.opening)
		inside = strings.TrimLeft(inside, blanks)
		switch {
		case ok && inside == "", strings.HasPrefix(w.opening, text):
			return mark{mayBecome, 1, ""}
		case ok:
			kind, _ := lookHead(inside)
			if kind == isBare {
				return mark{isCall, len(w.opening), w.closing}
			}
			return mark{kind, 1, ""}
		}
	}
	kind, closing := lookHead(text)
	if kind == isBare {
		return mark{isBare, 0, closing}
	}
	return mark{kind, 1, ""}
}

// results are the tags of results: ours, and those that models were trained on.
var results = []string{"<tool_result>", "<tool_response>"}

// lookResult looks for a result, which models must not write.
func lookResult(text string) mark {
	for _, tag := range results {
		switch {
		case text == tag:
			return mark{isResult, len(tag), ""}
		case strings.HasPrefix(tag, text):
			return mark{mayBecome, 1, ""}
		}
	}
	return mark{isText, 1, ""}
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"

// lookQuoted looks at a text after a backquote: a quoted tag is text.
func lookQuoted(text string) mark {
	const spoken = "`" + opening + "`"
	switch {
	case text == spoken:
		return mark{isText, len(text), ""}
	case strings.HasPrefix(spoken, text):
		return mark{kind: mayBecome}
	}
	return mark{isText, 1, ""}
}
