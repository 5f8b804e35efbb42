package console

import (
	"net/url"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// refused is what a person sent in vain, and why. It stays in the form, to be repaired there.
type refused struct {
	Fault *fault.Error // nil: nothing was refused
	sent  url.Values
}

// Was is what stood in a field.
func (r refused) Was(field string) string { return r.sent.Get(field) }

// refusal tells whether the person can repair what was sent. Else the error is shown alone.
func refusal(v *visit, err error) (refused, bool) {
	f := fault.As(err)
	switch f.Code {
	case fault.BadRequest, fault.BadConfig, fault.Conflict, fault.NotFound, fault.TooLarge:
		return refused{f, v.PostForm}, true
	}
	return refused{}, false
}
