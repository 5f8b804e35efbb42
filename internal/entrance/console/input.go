package console

import (
	"net/url"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// input is a form that was not accepted. It is shown again with what the person typed.
type input struct {
	Fault  *fault.Error // why; nil: there was no such form
	values url.Values
}

// Value is what the person typed into a field.
func (i input) Value(field string) string { return i.values.Get(field) }

// rejected tells whether the person can fix the form. Other errors are shown without it.
func rejected(v *visit, err error) (input, bool) {
	f := fault.As(err)
	switch f.Code {
	case fault.BadRequest, fault.BadConfig, fault.Conflict, fault.NotFound, fault.TooLarge:
		return input{f, v.PostForm}, true
	}
	return input{}, false
}
