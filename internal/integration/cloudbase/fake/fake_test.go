package fake

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The example that the cloud's documentation of the signature gives.
func TestSignatureIsThatOfTheDocumentation(t *testing.T) {
	body := `{"Limit": 1, "Filters": [{"Values": ["\u672a\u547d\u540d"], "Name": "instance-name"}]}`
	r := httptest.NewRequest("POST", "https://cvm.tencentcloudapi.com/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("X-TC-Timestamp", "1551113065")
	a := New(&Options{SecretID: "AKIDz8krbsJ5yKBZQpn74WFkmLPx3*******", SecretKey: "Gu5t9xGARNpq86cd98joQYCN3*******"})
	auth := authorization{scope: "2019-02-25/cvm/tc3_request", headers: []string{"content-type", "host"}}
	const want = "2230eefd229f582d8b1b891af7107b91597240707d778ab3738f756258d7652c"
	if got := a.signature(r, []byte(body), auth); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// signed is a request that the API takes.
func signed(a *API, body string) *http.Request {
	now := a.opts.Now().UTC()
	r := httptest.NewRequest("POST", "https://tcb.example.com/", strings.NewReader(body))
	for name, value := range map[string]string{
		"Content-Type": "application/json", "X-TC-Action": "DescribeEnvs", "X-TC-Version": "2018-06-08",
		"X-TC-Timestamp": jsonOf(now.Unix()), "X-TC-Token": a.opts.Token,
	} {
		r.Header.Set(name, value)
	}
	auth := authorization{scope: now.Format(time.DateOnly) + "/tcb/tc3_request", headers: []string{"content-type", "host"}}
	r.Header.Set("Authorization", algorithm+" Credential="+a.opts.SecretID+"/"+auth.scope+
		", SignedHeaders=content-type;host, Signature="+a.signature(r, []byte(body), auth))
	return r
}

func jsonOf(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func TestOnlyRightlySignedRequestsAreAnswered(t *testing.T) {
	a := New(&Options{SecretID: "id", SecretKey: "key", Token: "token"})
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		want   string
	}{
		{"a right one", func(*http.Request) {}, `"EnvList"`},
		{"no signature", header("Authorization", ""), "AuthFailure.InvalidAuthorization"},
		{"another way to sign", header("Authorization", "HmacSHA1 x"), "AuthFailure.InvalidAuthorization"},
		{"another body", func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(`{"x":1}`)) }, "AuthFailure.SignatureFailure"},
		{"another host", func(r *http.Request) { r.Host = "evil.example.com" }, "AuthFailure.SignatureFailure"},
		{"another type", header("Content-Type", "text/plain"), "AuthFailure.SignatureFailure"},
		{"another query", func(r *http.Request) { r.URL.RawQuery = "a=b" }, "AuthFailure.SignatureFailure"},
		{"another method", func(r *http.Request) { r.Method = "PUT" }, "AuthFailure.SignatureFailure"},
		{"another token", header("X-TC-Token", "other"), "AuthFailure.TokenFailure"},
		{"an old one", header("X-TC-Timestamp", "1551113065"), "AuthFailure.SignatureExpire"},
		{"no time", header("X-TC-Timestamp", ""), "MissingParameter"},
		{"another key", func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "=id/", "=it/", 1))
		}, "AuthFailure.SecretIdNotFound"},
		{"the host not signed", func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "content-type;host", "content-type", 1))
		}, "AuthFailure.InvalidAuthorization"},
		{"another service", func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "/tcb/", "/cvm/", 1))
		}, "AuthFailure.InvalidAuthorization"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := signed(a, `{}`)
			c.change(r)
			w := httptest.NewRecorder()
			a.ServeHTTP(w, r)
			if got := w.Body.String(); !strings.Contains(got, c.want) || w.Code != http.StatusOK {
				t.Errorf("got %d %.300s, want %s", w.Code, got, c.want)
			}
		})
	}
}

func TestRowsHaveEveryFieldAndAreFat(t *testing.T) {
	a := New(nil)
	w := httptest.NewRecorder()
	a.ServeHTTP(w, signed(a, `{}`))
	var got struct {
		Response struct {
			EnvList []map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(`EnvId Alias Status EnvType Region PackageName PackageId IsDefault Databases Storages
		Functions LogServices StaticStorages Tags EnvPreferences CreateTime UpdateTime Source PackageType EnvStatus
		IsAutoDegrade EnvChannel PayMode IsDauPackage CustomLogServices`)
	seen := map[string]bool{}
	for i, row := range got.Response.EnvList {
		for _, name := range fields {
			if row[name] == nil {
				t.Errorf("row %d lacks %s", i, name)
			}
		}
		if len(row) != len(fields) || seen[string(row["EnvId"])] {
			t.Errorf("row %d has %d fields, want %d, or an id that another has", i, len(row), len(fields))
		}
		seen[string(row["EnvId"])] = true
	}
	if len(seen) != 40 || w.Body.Len() < 50_000 {
		t.Errorf("%d rows in %d bytes, want 40 in 50,000 or more", len(seen), w.Body.Len())
	}
}

func FuzzParseAuthorization(f *testing.F) {
	f.Add("TC3-HMAC-SHA256 Credential=a/b/c/d, SignedHeaders=content-type;host, Signature=x")
	f.Add("TC3-HMAC-SHA256 ,,=,Credential=/")
	f.Fuzz(func(t *testing.T, header string) {
		if a, ok := parseAuthorization(header); ok && (a.secretID == "" || a.signature == "") {
			t.Errorf("%q gives %+v", header, a)
		}
	})
}
