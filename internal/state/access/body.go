package access

import (
	"errors"
	"net/http"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/mcp"
)

// ReadBody reads the body of a request, of at most limit bytes.
func ReadBody(r *http.Request, limit int64) ([]byte, error) {
	data, err := mcp.ReadBody(nil, r, limit)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, fault.New(fault.TooLarge, "the body is larger than %d bytes", limit).WithHint("send less, or raise limits.body")
	case err != nil:
		return nil, fault.New(fault.BadRequest, "the body ended too early or could not be read")
	}
	return data, nil
}
