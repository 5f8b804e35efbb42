package cloudbase

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/integration/cloudbase/fake"
	"github.com/toolfit/toolfit/internal/mcp"
)

func TestMissingCredentialsSayWhichVariablesToSet(t *testing.T) {
	for _, c := range []struct{ name, pairs, want string }{
		{"none", "TENCENTCLOUD_SECRETID= TENCENTCLOUD_SECRETKEY=", "TENCENTCLOUD_SECRETID TENCENTCLOUD_SECRETKEY"},
		{"no key", "TENCENTCLOUD_SECRETKEY=", "TENCENTCLOUD_SECRETKEY"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, api := open(t, strings.Fields(c.pairs)...)
			f := errorOf(t, call(t, s, "envQuery", `{"action":"list"}`))
			if f.Code != fault.Unauthorized || strings.Join(f.Variables, " ") != c.want || len(api.Requests()) > 0 {
				t.Errorf("got %+v", f)
			}
		})
	}
}

func TestOtherNamesOfTheVariablesAreReadToo(t *testing.T) {
	api := fake.New(&fake.Options{SecretID: "another-id", SecretKey: "another-key", Token: "a-token"})
	lookup := env("TENCENTCLOUD_SECRETID=", "TENCENTCLOUD_SECRETKEY=", "TENCENTCLOUD_SECRET_ID=another-id",
		"TENCENTCLOUD_SECRET_KEY= another-key ", "TENCENTCLOUD_TOKEN=a-token", "TCB_ENV=e", "TCB_REGION=ap-beijing")
	s, err := New(lookup, nil, &Options{Transport: api.Transport()})
	if err != nil {
		t.Fatal(err)
	}
	call(t, s, "getEnvInfo", `{}`)
	if got := api.Requests(); len(got) != 1 || got[0].Body != `{"EnvId":"e"}` || got[0].Region != "ap-beijing" {
		t.Errorf("sent %+v", got)
	}
}

func TestEndpoints(t *testing.T) {
	for text, want := range map[string]string{
		"tcb.private.example.com": "https tcb.private.example.com", "http://127.0.0.1:9000/": "http 127.0.0.1:9000", "https://[::1]:8": "https [::1]:8",
		"127.0.0.1:9": "https 127.0.0.1:9", "ftp://x": "", "https://": "", "https://x/path": "", "https://u:p@x": "", "x?y": "", "%": "",
	} {
		scheme, host, ok := splitEndpoint(text)
		if got := scheme + " " + host; ok != (want != "") || ok && got != want {
			t.Errorf("%s: got %q, %t, want %q", text, got, ok, want)
		}
		if _, err := New(env("CLOUDBASE_ENDPOINT="+text), nil, nil); (err == nil) != (want != "") {
			t.Errorf("%s: New says %v", text, err)
		}
	}
}

func TestRequestsGoToTheEndpointOverTheNetwork(t *testing.T) {
	api := fake.New(nil)
	srv := httptest.NewServer(api)
	defer srv.Close()
	s, err := New(env("CLOUDBASE_ENDPOINT="+srv.URL), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if a := call(t, s, "envQuery", `{"action":"list"}`); a.IsError {
		t.Errorf("got %s", a.Structured)
	}
	srv.Close()
	f := errorOf(t, call(t, s, "envQuery", `{"action":"list"}`))
	if f.Code != fault.UpstreamDown || f.Variables[0] != "CLOUDBASE_ENDPOINT" {
		t.Errorf("got %+v", f)
	}
}

func TestErrorsOfTheAPIAreTyped(t *testing.T) {
	s, api := open(t)
	for code, want := range map[string]string{
		"AuthFailure.InvalidAuthorization": "unauthorized TENCENTCLOUD_SECRETID TENCENTCLOUD_SECRETKEY", "AuthFailure.InvalidSecretId": "unauthorized TENCENTCLOUD_SECRETID TENCENTCLOUD_SECRETKEY",
		"AuthFailure.MFAFailure": "unauthorized TENCENTCLOUD_SECRETID TENCENTCLOUD_SECRETKEY", "AuthFailure.SecretIdNotFound": "unauthorized TENCENTCLOUD_SECRETID TENCENTCLOUD_SECRETKEY",
		"AuthFailure.SignatureExpire": "unauthorized", "AuthFailure.SignatureFailure": "unauthorized TENCENTCLOUD_SECRETID TENCENTCLOUD_SECRETKEY",
		"AuthFailure.TokenFailure":          "unauthorized TENCENTCLOUD_SESSIONTOKEN TENCENTCLOUD_SECRETID TENCENTCLOUD_SECRETKEY",
		"AuthFailure.UnauthorizedOperation": "forbidden TENCENTCLOUD_SECRETID TENCENTCLOUD_SECRETKEY", "UnauthorizedOperation": "forbidden TENCENTCLOUD_SECRETID TENCENTCLOUD_SECRETKEY",
		"OperationDenied": "forbidden", "IpInBlacklist": "forbidden", "IpNotInWhitelist": "forbidden",
		"ResourceNotFound": "not_found", "InvalidParameter.EnvId": "not_found", "InvalidParameter": "bad_arguments", "InvalidParameterValue": "bad_arguments",
		"MissingParameter": "bad_arguments", "UnknownParameter": "bad_arguments", "UnsupportedRegion": "bad_config TENCENTCLOUD_REGION",
		"InvalidAction": "upstream_protocol CLOUDBASE_ENDPOINT", "ActionOffline": "upstream_protocol CLOUDBASE_ENDPOINT", "NoSuchProduct": "upstream_protocol CLOUDBASE_ENDPOINT",
		"NoSuchVersion": "upstream_protocol CLOUDBASE_ENDPOINT", "UnsupportedProtocol": "upstream_protocol CLOUDBASE_ENDPOINT", "InvalidRequest": "upstream_protocol CLOUDBASE_ENDPOINT",
		"ServiceUnavailable": "upstream_down", "InternalError": "upstream_error", "InternalError.Database": "upstream_error", "FailedOperation": "upstream_error",
		"DryRunOperation": "upstream_error", "LimitExceeded": "upstream_error", "ResourceInUse": "upstream_error", "ResourceInsufficient": "upstream_error",
		"ResourceUnavailable": "upstream_error", "UnsupportedOperation": "upstream_error", "SomethingNew.Of.Tomorrow": "upstream_error",
		"ResponseSizeLimitExceeded": "too_large", "RequestSizeLimitExceeded": "too_large",
	} {
		api.Play("DescribeAuthDomains", fake.Fail(code, "it says why; 原因"))
		f := errorOf(t, call(t, s, "envQuery", `{"action":"domains","envId":"x"}`))
		if got := strings.TrimSpace(string(f.Code) + " " + strings.Join(f.Variables, " ")); got != want {
			t.Errorf("%s: got %q, want %q", code, got, want)
		}
		if f.APICode != code || f.RequestID == "" || !strings.Contains(f.Message, "it says why; 原因") {
			t.Errorf("%s: got %+v", code, f)
		}
	}
}

func TestSecretsAreNeverInAnErrorMessage(t *testing.T) {
	s, api := open(t)
	api.Play("DescribeAuthDomains", fake.Fail("FailedOperation",
		"signed "+fake.SecretID+" with "+fake.SecretKey+strings.Repeat("，长", 2000)))
	a := call(t, s, "envQuery", `{"action":"domains","envId":"x"}`)
	if strings.Contains(string(a.Structured), fake.SecretKey) || strings.Contains(string(a.Structured), fake.SecretID) ||
		len(a.Structured) > 3000 {
		t.Errorf("got %s", a.Structured)
	}
}

func TestThrottledRequestsAreMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, api := open(t)
		api.Play("DescribeAuthDomains", fake.Throttle, fake.Throttle)
		id := api.EnvIDs()[0]
		if a := call(t, s, "envQuery", `{"action":"domains","envId":"`+id+`"}`); a.IsError || len(api.Requests()) != 3 {
			t.Errorf("%d requests, got %s", len(api.Requests()), a.Structured)
		}
		api.Play("DescribeAuthDomains", fake.Throttle, fake.Throttle, fake.Throttle)
		f := errorOf(t, call(t, s, "envQuery", `{"action":"domains","envId":"`+id+`"}`))
		if f.Code != fault.RateLimited || len(api.Requests()) != 6 {
			t.Errorf("%d requests, got %+v", len(api.Requests()), f)
		}
	})
}

func TestASlowAPIIsATimeoutAndACancelledCallEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, api := open(t)
		never := make(chan struct{})
		api.Play("DescribeAuthDomains", fake.Slow(never), fake.Slow(never))
		f := errorOf(t, call(t, s, "envQuery", `{"action":"domains","envId":"x"}`))
		if f.Code != fault.UpstreamTimeout {
			t.Errorf("got %+v", f)
		}
		ctx, cancel := contextWithCancel(t)
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		_, err := s.Serve(ctx, request("envQuery", `{"action":"domains","envId":"x"}`, mcp.Deaf))
		if err == nil || time.Since(began) != time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

func TestGarbageIsSaidToBeGarbage(t *testing.T) {
	s, api := open(t)
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	for name, scene := range map[string]fake.Scene{
		"HTML": fake.Raw(200, "text/html", "<html>log in</html>"), "nothing": fake.Raw(200, "application/json", ""),
		"null": fake.Raw(200, "application/json", "null"), "a list": fake.Raw(200, "application/json", "[]"),
		"no envelope": fake.Raw(200, "application/json", `{"EnvList":[]}`), "an envelope around nothing": fake.Answer("null"),
		"an envelope around text": fake.Answer(`"x"`), "cut off": fake.Raw(200, "application/json", `{"Response":{"EnvList":[`),
		"a proxy's page": fake.Raw(502, "text/html", "<html>bad gateway</html>"), "an empty 500": fake.Raw(500, "", ""),
		"a stream of events": fake.Raw(200, "text/event-stream", "data: {}\n\n"), "too deep": fake.Answer(`{"x":` + deep + `}`),
		"packed": func(w http.ResponseWriter, _ *http.Request, _ func() (any, error)) {
			w.Header().Set("Content-Encoding", "deflate")
			w.Write([]byte{1, 2, 3})
		},
	} {
		t.Run(name, func(t *testing.T) {
			api.Play("DescribeAuthDomains", scene)
			f := errorOf(t, call(t, s, "envQuery", `{"action":"domains","envId":"x"}`))
			if f.Code != fault.UpstreamProtocol || f.Variables[0] != "CLOUDBASE_ENDPOINT" || strings.Contains(f.Message, "html>") {
				t.Errorf("got %+v", f)
			}
		})
	}
}

func TestAnAnswerThatIsTooLargeIsRefused(t *testing.T) {
	s, api := open(t)
	api.Play("DescribeAuthDomains", fake.Answer(`{"x":"`+strings.Repeat("x", maxAnswer)+`"}`))
	if f := errorOf(t, call(t, s, "envQuery", `{"action":"domains","envId":"x"}`)); f.Code != fault.TooLarge {
		t.Errorf("got %+v", f)
	}
}

func TestInvalidUTF8BecomesReadable(t *testing.T) {
	s, api := open(t)
	api.Play("DescribeAuthDomains", fake.Answer("{\"x\":\"a\xffb\"}"))
	if a := call(t, s, "envQuery", `{"action":"domains","envId":"x"}`); string(a.Structured) != "{\"x\":\"a\uFFFDb\"}" {
		t.Errorf("got %q", a.Structured)
	}
}

func TestTheDocumentNamesEveryVariable(t *testing.T) {
	text, err := os.ReadFile("../../../docs/cloudbase.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{varSecretID, varSecretKey, varToken, varRegion, varEndpoint, varEnvID} {
		for _, name := range names {
			if !strings.Contains(string(text), "`"+name+"`") {
				t.Errorf("%s is not in docs/cloudbase.md", name)
			}
		}
	}
}

func FuzzSplitEndpoint(f *testing.F) {
	f.Add("https://host:1/")
	f.Add("[::1]:9000")
	f.Fuzz(func(t *testing.T, text string) {
		if scheme, host, ok := splitEndpoint(text); ok {
			if s, h, again := splitEndpoint(scheme + "://" + host); !again || s != scheme || h != host {
				t.Errorf("%q gives %s and %s, and that %s and %s", text, scheme, host, s, h)
			}
		}
	})
}
