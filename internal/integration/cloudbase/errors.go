package cloudbase

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/arguments"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// details are further members of an error.
type details struct {
	Variables []string `json:"variables,omitempty"` // to set or to correct
	APICode   string   `json:"apiCode,omitempty"`   // the cloud's own code
	RequestID string   `json:"requestId,omitempty"` // what the cloud's support asks for
}

// errorResult is an error as the result of a call.
func errorResult(f *fault.Error) json.RawMessage {
	var more details
	json.Unmarshal(f.Details, &more) // without details there are none
	return result(rawjson.Encode(map[string]any{"error": struct {
		Code    fault.Code `json:"code"`
		Message string     `json:"message"`
		Hint    string     `json:"hint,omitempty"`
		details
	}{f.Code, arguments.Cut(f.Message, 500), f.Hint, more}}), true)
}

type meaning struct {
	prefix string // of the API's code; the first that fits counts
	code   fault.Code
	hint   string
	set    func(settings) []string
}

func endpointVar(settings) []string { return varEndpoint[:1] }
func regionVar(settings) []string   { return varRegion[:1] }
func tokenVars(settings) []string   { return []string{varToken[0], varSecretID[0], varSecretKey[0]} }

// meanings are the documented codes of the API. Others are upstream errors.
var meanings = []meaning{
	{"AuthFailure.UnauthorizedOperation", fault.Forbidden, "give the key the right to read CloudBase environments, or use another key",
		settings.credentials},
	{"AuthFailure.SignatureExpire", fault.Unauthorized, "set the clock of this machine: it is more than five minutes off", nil},
	{"AuthFailure.TokenFailure", fault.Unauthorized, "the token of a temporary key is wrong or has expired", tokenVars},
	{"AuthFailure", fault.Unauthorized, "correct the key", settings.credentials},
	{"UnauthorizedOperation", fault.Forbidden, "give the key the right to read CloudBase environments, or use another key",
		settings.credentials},
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

// problem is an error as the API tells it.
type problem struct {
	Code, Message string
	requestID     string
}

// meant turns an error of the API into one of ours.
func (a *api) meant(action string, told problem) error {
	f := fault.New(fault.UpstreamError, "%s: %s (%s)", action, told.Message, told.Code)
	more := details{APICode: told.Code, RequestID: told.requestID}
	i := slices.IndexFunc(meanings, func(m meaning) bool { return strings.HasPrefix(told.Code, m.prefix) })
	if i >= 0 {
		f.Code = meanings[i].code
		f.Hint = meanings[i].hint
		if set := meanings[i].set; set != nil {
			more.Variables = set(a.settings)
		}
	}
	return f.WithDetails(more)
}
