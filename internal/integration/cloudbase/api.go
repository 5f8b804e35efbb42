package cloudbase

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

const (
	service = "tcb"
	version = "2018-06-08"

	requestLimit = 30 * time.Second // for one request
	maxAnswer    = 16 << 20         // bytes
	repeats      = 2                // of a request that came too soon after others
	firstPause   = 500 * time.Millisecond
)

type api struct {
	settings settings
	client   http.Client
	close    func()
}

// newAPI makes an api; a nil transport is the network.
func newAPI(set settings, transport http.RoundTripper) *api {
	a := &api{settings: set, close: func() {}}
	if transport == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		transport = own
		a.close = own.CloseIdleConnections
	}
	a.client = http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a signature is for one host
	}}
	return a
}

// call sends a request and returns the raw content of Response. Throttled requests are retried, as
// all of them only read.
func (a *api) call(ctx context.Context, action string, params map[string]any) (json.RawMessage, error) {
	if names := a.settings.missing(); names != nil {
		return nil, fault.New(fault.Unauthorized, "the cloud needs a key: %s not set", strings.Join(names, " and ")).
			WithHint("set them in env of this server or in the environment of the gateway, then call again").
			WithDetails(details{Variables: names})
	}
	for n := 0; ; n++ {
		out, err := a.once(ctx, action, params)
		if n == repeats || !fault.Is(err, fault.RateLimited) {
			return out, err
		}
		timer := time.NewTimer(firstPause << n)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

func (a *api) once(ctx context.Context, action string, params map[string]any) (json.RawMessage, error) {
	timed, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	status, text, err := a.post(timed, action, rawjson.Encode(params))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case timed.Err() != nil:
		return nil, fault.New(fault.UpstreamTimeout, "%s did not answer %s within %s", a.settings.host, action, requestLimit).
			WithHint("try again later")
	case err != nil:
		return nil, fault.New(fault.UpstreamDown, "%s cannot be reached: %w", a.settings.host, err).
			WithHint("is the endpoint right, and is there a proxy in the way?").WithDetails(details{Variables: varEndpoint[:1]})
	case len(text) > maxAnswer: // in the API's own words for it
		why := fmt.Sprintf("The answer is larger than %d bytes.", maxAnswer)
		return nil, a.meant(action, problem{Code: "ResponseSizeLimitExceeded", Message: why})
	case status != http.StatusOK || rawjson.Check(text) != nil:
		return nil, a.garbage(action)
	}
	body := rawjson.Get(text, "Response")
	if len(body) == 0 || body[0] != '{' {
		return nil, a.garbage(action)
	}
	var told struct {
		Error     problem
		RequestID string `json:"RequestId"`
	}
	if json.Unmarshal(body, &told); told.Error.Code != "" { // what does not fit is no error
		told.Error.requestID = told.RequestID
		return nil, a.meant(action, told.Error)
	}
	return bytes.ToValidUTF8(body, []byte("\uFFFD")), nil
}

// post sends a signed request and reads the answer, up to a byte more than it may have.
func (a *api) post(ctx context.Context, action string, body []byte) (status int, text []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.settings.scheme+"://"+a.settings.host+"/", bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for name, value := range map[string]string{
		"X-TC-Action": action, "X-TC-Version": version, "X-TC-Region": a.settings.region, "X-TC-Language": "en-US", // of error messages
		"Content-Type": "application/json",
	} {
		r.Header.Set(name, value)
	}
	if a.settings.token != "" {
		r.Header.Set("X-TC-Token", a.settings.token)
	}
	a.settings.sign(r, service, body, time.Now())
	resp, err := a.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	return resp.StatusCode, text, err
}

func (a *api) garbage(action string) error {
	return fault.New(fault.UpstreamProtocol, "%s answered %s with something that is not from the cloud's API", a.settings.host, action).
		WithHint("is the endpoint right?").WithDetails(details{Variables: varEndpoint[:1]})
}
