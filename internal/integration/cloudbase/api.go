package cloudbase

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common"
	tcerr "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/errors"
	tchttp "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/http"
	"github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/profile"

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
	client   *common.Client
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
	p := profile.NewClientProfile()
	p.HttpProfile.Scheme = set.scheme
	p.HttpProfile.Endpoint = set.host
	p.HttpProfile.ReqTimeout = 0 // the context has a deadline
	p.Language = "en-US"         // of error messages
	credential := common.NewTokenCredential(set.secretID, set.secretKey, set.token)
	a.client = common.NewCommonClient(credential, set.region, p).WithHttpTransport(bounded{transport}).WithLogger(silent{})
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
	req := tchttp.NewCommonRequest(service, version, action)
	if err := req.SetActionParameters(params); err != nil {
		return nil, fmt.Errorf("set parameters of %s: %w", action, err)
	}
	timed, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	req.SetContext(timed)
	var got answer
	err := a.client.Send(req, &got)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case timed.Err() != nil:
		return nil, fault.New(fault.UpstreamTimeout, "%s did not answer %s within %s", a.settings.host, action, requestLimit).
			WithHint("try again later")
	case err != nil:
		return nil, a.explain(action, err)
	}
	body := rawjson.Get(got.raw, "Response")
	if rawjson.Check(got.raw) != nil || len(body) == 0 || body[0] != '{' {
		return nil, a.garbage(action)
	}
	return bytes.ToValidUTF8(body, []byte("\uFFFD")), nil
}

// answer keeps the raw bytes of an answer. The client's own type would lose the order of members
// and digits of large numbers.
type answer struct {
	tchttp.BaseResponse
	raw json.RawMessage
}

func (a *answer) UnmarshalJSON(data []byte) error {
	a.raw = bytes.Clone(data)
	return nil
}

// explain turns an error of the client or the API into one of ours.
func (a *api) explain(action string, err error) error {
	var told *tcerr.TencentCloudSDKError
	if !errors.As(err, &told) {
		return fault.New(fault.UpstreamError, "%s: %w", action, err)
	}
	switch {
	case told.Code == "ClientError.NetworkError":
		_, why, _ := strings.Cut(told.Message, "because ")
		return fault.New(fault.UpstreamDown, "%s cannot be reached: %s", a.settings.host, why).
			WithHint("is the endpoint right, and is there a proxy in the way?").WithDetails(details{Variables: varEndpoint[:1]})
	case strings.HasPrefix(told.Code, "ClientError."):
		return a.garbage(action)
	}
	return a.meant(action, told)
}

func (a *api) garbage(action string) error {
	return fault.New(fault.UpstreamProtocol, "%s answered %s with something that is not from the cloud's API", a.settings.host, action).
		WithHint("is the endpoint right?").WithDetails(details{Variables: varEndpoint[:1]})
}

// bounded reads answers up to a limit and passes on only objects: the client itself would read
// without limit and leave event streams open.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, err
	}
	switch {
	case len(body) > maxAnswer: // in the API's own words for it
		body = fmt.Appendf(nil, `{"Response":{"Error":{"Code":"ResponseSizeLimitExceeded",`+
			`"Message":"The answer is larger than %d bytes."}}}`, maxAnswer)
	case rawjson.Check(body) != nil || bytes.TrimLeft(body, " \t\r\n")[0] != '{':
		body = []byte(`""`) // the client dies of a null, and the rest is no better
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.Header.Set("Content-Type", "application/json")
	resp.Header.Del("Content-Encoding")
	return resp, nil
}

// silent discards the client's log.
type silent struct{}

func (silent) Printf(string, ...any) {}
