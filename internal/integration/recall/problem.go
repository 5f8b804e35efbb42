package recall

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/mcp"
)

// The specific codes, in addition to those that only name a status. New codes may be added.
const (
	unsupportedType  = "KnActionRecallUnsupportedType"
	convertFailed    = "KnActionRecallSchemaConvertFailed"
	parameterClash   = "KnActionRecallParameterClash"
	toolNotFound     = "KnActionRecallToolNotFound"
	actionNotFound   = "KnActionRecallActionNotFound"
	sourceIncomplete = "KnActionRecallSourceIncomplete"
	instanceNotFound = "MCPInstanceNotFound"
	argumentsInvalid = "MCPArgumentsInvalid"
)

// problem is an error that the caller may see.
type problem struct {
	status  int
	code    string // specific code; "": that of the status
	details any    // what is wrong where; may be nil
	cause   error  // only logged
}

// Error returns the text for logs and records.
func (p *problem) Error() string {
	b := p.in(locale.English)
	text := fmt.Sprintf("%d %s", p.status, b.Code)
	if given, ok := b.Details.(details); ok {
		text += " (" + given.String() + ")"
	} else if b.Details != nil {
		text += fmt.Sprintf(" (%s)", b.Details)
	}
	if p.cause != nil {
		text += ": " + p.cause.Error()
	}
	return text
}

func (p *problem) Unwrap() error { return p.cause }

// details say what is wrong where.
type details map[string]any

// String returns all details by name.
func (d details) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(d)) {
		text, ok := d[name].(string)
		if !ok {
			written, _ := json.Marshal(d[name]) // plain values
			text = string(written)
		}
		parts = append(parts, name+": "+text)
	}
	return strings.Join(parts, "; ")
}

// in translates the details.
func (d details) in(lang locale.Language) details {
	out := maps.Clone(d)
	for field, value := range d {
		switch v := value.(type) {
		case said:
			out[field] = fmt.Sprintf(lang.Text(v.key), v.args...)
		case ours:
			out[field] = lang.Translate(string(v))
		case []fit.Problem:
			list := slices.Clone(v)
			for i := range list {
				list[i].Expected = lang.Translate(list[i].Expected)
				list[i].Hint = lang.Translate(list[i].Hint)
			}
			out[field] = list
		}
	}
	return out
}

// said is a sentence in the details, translated for the request.
type said struct {
	key  string
	args []any
}

func say(key string, args ...any) said { return said{key, args} }

// ours is an English sentence from another package.
type ours string

// wrong is the problem of a missing or malformed parameter. got is a type, said, or nil to
// show nothing.
func wrong(field, expected string, got any) *problem {
	d := details{"field": field, "expected": say("expect." + expected)}
	if got != nil {
		d["got"] = got
	}
	return &problem{status: http.StatusBadRequest, details: d}
}

// broken is the problem of a service that misbehaves.
func broken(service string, reason said, cause error) *problem {
	return &problem{status: http.StatusBadGateway, details: details{"service": service, "reason": reason}, cause: cause}
}

// notFound is the problem of something that does not exist.
func notFound(code string, what details) *problem {
	return &problem{status: http.StatusNotFound, code: code, details: what}
}

// names are the names of statuses in codes.
var names = map[int]string{
	http.StatusBadRequest: "BadRequest", http.StatusUnauthorized: "Unauthorized", http.StatusForbidden: "Forbidden",
	http.StatusNotFound: "NotFound", http.StatusMethodNotAllowed: "MethodNotAllowed", http.StatusConflict: "Conflict",
	http.StatusRequestEntityTooLarge: "BadRequest", http.StatusTooManyRequests: "ServiceUnavailable", fault.Gone: "BadRequest",
	http.StatusInternalServerError: "InternalServerError", http.StatusNotImplemented: "NotImplemented",
	http.StatusServiceUnavailable: "ServiceUnavailable", http.StatusBadGateway: "BadGateway",
}

// errorBody is the JSON form of every error.
type errorBody struct {
	Code        string `json:"code"`
	Description string `json:"description,omitempty"`
	Solution    string `json:"solution,omitempty"`
	Link        string `json:"link,omitempty"`
	Details     any    `json:"details,omitempty"`
}

// in translates the problem.
func (p *problem) in(lang locale.Language) errorBody {
	name := names[p.status]
	b := errorBody{Code: "Public." + name, Details: p.details}
	key := "error.Public." + name
	if p.code != "" {
		b.Code = "agentRetrieval." + name + "." + p.code
		key = "error." + p.code
	}
	b.Description = lang.Text(key + ".description")
	b.Solution = lang.Text(key + ".solution")
	if given, ok := p.details.(details); ok {
		b.Details = given.in(lang)
	}
	return b
}

// Refuse writes an error response. Details that the caller must not see are logged.
func (s *Service) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := asProblem(err)
	if p.status == http.StatusInternalServerError && r.Context().Err() != nil {
		p = &problem{status: fault.Gone}
	}
	switch p.status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="toolfit"`)
	case http.StatusInternalServerError, http.StatusServiceUnavailable:
		if f := fault.As(err); f.Hides() {
			s.Logger.Error("request not served", "method", r.Method, "path", r.URL.Path, "error", f)
		}
	case http.StatusBadGateway:
		s.Logger.Warn("a service did not answer as it should", "path", r.URL.Path, "error", err)
	}
	body, err := json.Marshal(p.in(s.language(r)))
	if err != nil { // details are plain values
		s.Logger.Error("error not written", "error", err)
	}
	send(w, p.status, jsonType, body)
}

// asProblem converts any error to what the caller may see.
func asProblem(err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	var theirs *mcp.Error
	if errors.As(err, &theirs) {
		return &problem{status: http.StatusBadGateway, details: details{"reason": theirs.Message, "mcp_code": theirs.Code}, cause: err}
	}
	f := fault.As(err)
	p = &problem{status: statusOf(f.Code), cause: err}
	switch f.Code {
	case fault.Internal, fault.Canceled:
		return p
	case fault.BadArguments:
		p.code = argumentsInvalid
		if d := unfit(f.Details); d != nil {
			p.details = d
			return p
		}
	case fault.UnknownTool:
		p.code = toolNotFound
	}
	if f.Details != nil {
		p.details = f.Details
		return p
	}
	d := details{"reason": say("fault." + string(f.Code)), "message": ours(f.Message)}
	if f.Hint != "" {
		d["hint"] = ours(f.Hint)
	}
	p.details = d
	return p
}

// unfit describes the first invalid argument like any other parameter, with the list of all
// problems; nil if there are none.
func unfit(given raw) details {
	var all struct {
		Problems []fit.Problem `json:"problems"`
		More     int           `json:"more"`
	}
	if err := json.Unmarshal(given, &all); err != nil || len(all.Problems) == 0 {
		return nil
	}
	first := all.Problems[0]
	d := details{"field": first.Field, "expected": ours(first.Expected), "got": first.Got, "problems": all.Problems}
	if first.Code == fit.Missing {
		d["got"] = say("got.nothing")
	} else if first.Got == "" {
		d["got"] = say("got.value")
	}
	if first.Expected == "" {
		d["expected"] = say("expect.noArgument")
	}
	if all.More > 0 {
		d["more"] = all.More
	}
	return d
}

// statusOf returns the HTTP status of a fault; errors of servers are 502.
func statusOf(code fault.Code) int {
	switch code {
	case fault.UpstreamTimeout:
		return http.StatusBadGateway
	case fault.BadConfig: // ours, not the caller's
		return http.StatusInternalServerError
	}
	return code.Status()
}
