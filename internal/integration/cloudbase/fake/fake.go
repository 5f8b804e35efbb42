// Package fake is a stand-in for the cloud's API, with 40 environments of invented data: for
// the demo, and for tests, where it also plays what goes wrong. It checks the signature of
// every request (TC3-HMAC-SHA256) by code of its own, so that it would notice a client that
// signs wrongly. It keeps nothing after the process ends, and the same request gets the same
// rows in every process.
//
//	api := fake.New(nil)
//	client := &http.Client{Transport: api.Transport()} // or: httptest.NewServer(api)
//	api.Play("DescribeEnvs", fake.Fail("InternalError", "try later")) // the next answer
package fake

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The default credentials.
const (
	SecretID  = "AKIDdemo0000000000000000000000000000"
	SecretKey = "demo-secret-key-of-nobody"
)

// Options change an API. The zero value is usable.
type Options struct {
	SecretID, SecretKey string           // whose requests are taken; "": the constants above
	Token               string           // of a temporary key; "": the key is a lasting one
	Now                 func() time.Time // nil: time.Now
}

type API struct {
	opts Options
	envs []environment

	mu    sync.Mutex
	plays map[string][]Scene // by action: what is played next
	seen  []Request
}

// Request is a correctly signed request.
type Request struct {
	Action, Region string
	Body           string
}

// New makes an API; nil options are the defaults.
func New(opts *Options) *API {
	a := &API{envs: environments(), plays: map[string][]Scene{}}
	if opts != nil {
		a.opts = *opts
	}
	if a.opts.SecretID == "" {
		a.opts.SecretID = SecretID
		a.opts.SecretKey = SecretKey
	}
	if a.opts.Now == nil {
		a.opts.Now = time.Now
	}
	return a
}

// Play sets how the next requests for the action are answered, in order.
func (a *API) Play(action string, scenes ...Scene) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.plays[action] = append(a.plays[action], scenes...)
}

// maxSeen limits the recorded requests.
const maxSeen = 100

// Requests returns the last requests, at most a hundred.
func (a *API) Requests() []Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.seen)
}

// EnvIDs returns the ids of all environments, in order.
func (a *API) EnvIDs() []string {
	ids := make([]string, len(a.envs))
	for i, e := range a.envs {
		ids[i] = e.ID
	}
	return ids
}

const maxBody = 1 << 20

func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(w, "RequestSizeLimitExceeded", "the request is too large")
		return
	}
	if code, message := a.checkSignature(r, body); code != "" {
		refuse(w, code, message)
		return
	}
	action := r.Header.Get("X-TC-Action")
	scene := a.note(Request{action, r.Header.Get("X-TC-Region"), string(body)})
	if scene == nil {
		scene = usual
	}
	scene(w, r, func() (any, error) { return a.answer(action, r.Header.Get("X-TC-Version"), body) })
}

// note records the request and returns the next scene for it; nil: the usual answer.
func (a *API) note(req Request) Scene {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = append(a.seen, req)
	if len(a.seen) > maxSeen {
		a.seen = slices.Delete(a.seen, 0, 1)
	}
	next := a.plays[req.Action]
	if len(next) == 0 {
		return nil
	}
	a.plays[req.Action] = next[1:]
	return next[0]
}

// apiError is an error of the API.
type apiError struct{ code, message string }

func (e apiError) Error() string { return e.code + ": " + e.message }

// answer returns the content of Response.
func (a *API) answer(action, version string, body []byte) (any, error) {
	if version != "2018-06-08" {
		return nil, apiError{"NoSuchVersion", fmt.Sprintf("The version %q does not exist.", version)}
	}
	var in struct {
		EnvID      string `json:"EnvId"`
		MetricName string
		StartTime  string
		EndTime    string
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, apiError{"InvalidParameter", "The request body is no JSON object."}
	}
	if action == "DescribeEnvs" {
		return envList{a.find(in.EnvID)}, nil
	}
	found := a.find(in.EnvID)
	if in.EnvID == "" || len(found) == 0 {
		return nil, apiError{"InvalidParameter.EnvId", fmt.Sprintf("The environment %q does not exist.", in.EnvID)}
	}
	switch env := found[0]; action {
	case "DescribeAuthDomains":
		return domainsOf(env), nil
	case "DescribeStaticStore":
		return hostingOf(env), nil
	case "DescribeQuotaData":
		return quotaOf(env, in.MetricName), nil
	case "DescribeCurveData":
		return curveOf(env, in.MetricName, in.StartTime, in.EndTime), nil
	}
	return nil, apiError{"InvalidAction", fmt.Sprintf("The action %q does not exist.", action)}
}

type envList struct{ EnvList []environment }

// find returns the environment with the id, or all for "".
func (a *API) find(id string) []environment {
	if id == "" {
		return a.envs
	}
	return slices.DeleteFunc(slices.Clone(a.envs), func(e environment) bool { return e.ID != id })
}
