package upstream

import "errors"

// mark is a property of an error that is not in its text.
type mark int

const (
	noVerdict     mark = iota // not the server's fault: the call never reached it, or waited for a person
	otherEra                  // the server may have switched to the legacy era, and has not acted on the request
	notStreamable             // the URL may be for the older HTTP transport
	streamEnded               // the stream ended before the answer
)

type markedError struct {
	error
	mark mark
}

func (e *markedError) Unwrap() error { return e.error }

func marked(err error, m mark) error { return &markedError{err, m} }

func hasMark(err error, m mark) bool {
	for {
		e, ok := errors.AsType[*markedError](err)
		if !ok || e.mark == m {
			return ok
		}
		err = e.error
	}
}
