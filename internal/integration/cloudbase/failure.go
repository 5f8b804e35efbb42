package cloudbase

import (
	"strings"

	tcerr "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/errors"

	"github.com/toolfit/toolfit/internal/base/arguments"
	"github.com/toolfit/toolfit/internal/base/fault"
)

// failure is a tool error: what a program can act on, a sentence, and what to set.
type failure struct {
	Code      fault.Code `json:"code"`
	Message   string     `json:"message"`
	Hint      string     `json:"hint,omitempty"`
	Variables []string   `json:"variables,omitempty"` // to set or to correct
	APICode   string     `json:"apiCode,omitempty"`   // the cloud's own code
	RequestID string     `json:"requestId,omitempty"` // what the cloud's support asks for
}

func (f *failure) Error() string { return f.Message }

// result is the failure as the result of a call.
func (f *failure) result() []byte {
	c := *f
	c.Message = arguments.Cut(c.Message, 500)
	return result(encode(map[string]any{"error": c}), true)
}

// meaning is what a code of the API means for the caller.
type meaning struct {
	prefix string // of the API's code; the first that fits counts
	code   fault.Code
	hint   string
	set    func(settings) []string
}

func endpointVar(settings) []string { return varEndpoint[:1] }
func regionVar(settings) []string   { return varRegion[:1] }

// meanings are the codes that the API documents. What is not here is an error of the API's
// own, and passed on as such.
var meanings = []meaning{
	{"AuthFailure.UnauthorizedOperation", fault.Forbidden, "give the key the right to read CloudBase environments, or use another key", settings.credentials},
	{"AuthFailure.SignatureExpire", fault.Unauthorized, "set the clock of this machine: it is more than five minutes off", nil},
	{"AuthFailure.TokenFailure", fault.Unauthorized, "the token of a temporary key is wrong or has expired", func(settings) []string { return append([]string{varToken[0]}, varSecretID[0], varSecretKey[0]) }},
	{"AuthFailure", fault.Unauthorized, "correct the key", settings.credentials},
	{"UnauthorizedOperation", fault.Forbidden, "give the key the right to read CloudBase environments, or use another key", settings.credentials},
	{"OperationDenied", fault.Forbidden, "", nil},
	{"IpInBlacklist", fault.Forbidden, "the key may not be used from this address", nil},
	{"IpNotInWhitelist", fault.Forbidden, "the key may not be used from this address", nil},
	{"RequestLimitExceeded", fault.RateLimited, "try again in a few seconds", nil},
	{"ResponseSizeLimitExceeded", fault.TooLarge, "", nil},
	{"RequestSizeLimitExceeded", fault.TooLarge, "", nil},
	{"ResourceNotFound", fault.NotFound, "action=list gives the ids that there are", nil},
	{"InvalidParameter.EnvId", fault.NotFound, "action=list gives the ids that there are", nil},
	{"InvalidParameter", fault.BadArguments, "", nil}, // and InvalidParameterValue
	{"MissingParameter", fault.BadArguments, "", nil},
	{"UnknownParameter", fault.BadArguments, "", nil},
	{"UnsupportedRegion", fault.BadConfig, "", regionVar},
	{"InvalidAction", fault.UpstreamProtocol, "this endpoint does not know what was asked; is it the right one?", endpointVar},
	{"ActionOffline", fault.UpstreamProtocol, "this endpoint no longer knows what was asked", endpointVar},
	{"NoSuchProduct", fault.UpstreamProtocol, "this endpoint does not serve CloudBase", endpointVar},
	{"NoSuchVersion", fault.UpstreamProtocol, "this endpoint does not serve version " + version, endpointVar},
	{"UnsupportedProtocol", fault.UpstreamProtocol, "use https", endpointVar},
	{"InvalidRequest", fault.UpstreamProtocol, "is there a proxy in the way?", endpointVar},
	{"ServiceUnavailable", fault.UpstreamDown, "try again later", nil},
	{"InternalError", fault.UpstreamError, "try again later", nil},
}

// refused says what an error of the API means.
func (a *api) refused(action string, told *tcerr.TencentCloudSDKError) *failure {
	f := &failure{
		Code: fault.UpstreamError, Message: action + ": " + told.Message + " (" + told.Code + ")",
		APICode: told.Code, RequestID: told.RequestId,
	}
	for _, m := range meanings {
		if !strings.HasPrefix(told.Code, m.prefix) {
			continue
		}
		f.Code, f.Hint = m.code, m.hint
		if m.set != nil {
			f.Variables = m.set(a.settings)
		}
		break
	}
	return f
}
