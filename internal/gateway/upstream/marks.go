package upstream

import "errors"

// mark is something that an error implies and its text does not say.
type mark int

const (
	noVerdict     mark = 1 << iota // it says nothing about whether the server works: the call never got there, or waited for a person
	otherEra                       // the server may speak the legacy era by now, and has not acted on the request
	notStreamable                  // the URL may be one of the older HTTP transport
	streamEnded                    // the stream ended before the answer
)

type markedError struct {
	error
	mark mark
}

func (e *markedError) Unwrap() error { return e.error }

func marked(err error, m mark) error { return &markedError{err, m} }

func hasMark(err error, m mark) bool {
	var e *markedError
	for errors.As(err, &e) {
		if e.mark == m {
			return true
		}
		err = e.error
	}
	return false
}
