package fault

import "net/http"

// Gone is the status for a caller that has disconnected, for the logs of proxies.
const Gone = 499

// Status returns the HTTP status of a code.
func (c Code) Status() int {
	switch c {
	case BadRequest, BadConfig, BadArguments:
		return http.StatusBadRequest
	case Unauthorized:
		return http.StatusUnauthorized
	case Forbidden, Denied, ApprovalRequired:
		return http.StatusForbidden
	case NotFound, UnknownTool:
		return http.StatusNotFound
	case Conflict, StillRunning, StateLost:
		return http.StatusConflict
	case TooLarge:
		return http.StatusRequestEntityTooLarge
	case RateLimited, LimitReached:
		return http.StatusTooManyRequests
	case UpstreamDown, UpstreamProtocol, UpstreamError, BadResult, LoginRequired, Unknown: // not 401: the key to us is fine
		return http.StatusBadGateway
	case UpstreamTimeout:
		return http.StatusGatewayTimeout
	case UpstreamBusy, StoreDown:
		return http.StatusServiceUnavailable
	case Canceled:
		return Gone
	}
	return http.StatusInternalServerError
}
