package cloudbase

import (
	"net/url"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// The variables that a server reads; the first that is set counts. The cloud's own programs differ
// in their names.
var (
	varSecretID  = []string{"TENCENTCLOUD_SECRETID", "TENCENTCLOUD_SECRET_ID"}
	varSecretKey = []string{"TENCENTCLOUD_SECRETKEY", "TENCENTCLOUD_SECRET_KEY"}
	varToken     = []string{"TENCENTCLOUD_SESSIONTOKEN", "TENCENTCLOUD_TOKEN"}
	varRegion    = []string{"TENCENTCLOUD_REGION", "TCB_REGION"}
	varEndpoint  = []string{"CLOUDBASE_ENDPOINT", "TENCENTCLOUD_ENDPOINT"}
	varEnvID     = []string{"CLOUDBASE_ENV_ID", "TCB_ENV"}
)

const (
	defaultRegion   = "ap-shanghai"
	defaultEndpoint = "tcb.tencentcloudapi.com"
)

// settings describe an account.
type settings struct {
	secretID, secretKey, token string
	region                     string
	scheme, host               string // of the endpoint
	envID                      string // the bound environment; "": none
}

func readSettings(lookup func(string) (string, bool)) (settings, error) {
	get := func(names []string, otherwise string) string {
		for _, name := range names {
			if v, _ := lookup(name); strings.TrimSpace(v) != "" {
				return strings.TrimSpace(v)
			}
		}
		return otherwise
	}
	s := settings{
		secretID: get(varSecretID, ""), secretKey: get(varSecretKey, ""), token: get(varToken, ""),
		region: get(varRegion, defaultRegion), envID: get(varEnvID, ""),
	}
	endpoint := get(varEndpoint, defaultEndpoint)
	var ok bool
	s.scheme, s.host, ok = splitEndpoint(endpoint)
	if !ok {
		return s, fault.New(fault.BadConfig, "%s is %q, which is not an endpoint", varEndpoint[0], endpoint).
			WithHint("write a host, or http://host:port or https://host:port without a path")
	}
	return s, nil
}

// splitEndpoint splits a host or URL.
func splitEndpoint(text string) (scheme, host string, ok bool) {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(strings.TrimSuffix(text, "/"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", "", false
	}
	whole := url.URL{Scheme: u.Scheme, Host: u.Host}
	return u.Scheme, u.Host, u.Hostname() != "" && whole.String() == u.String() // no user, path, query
}

// missing returns the variables without which requests cannot be signed.
func (s settings) missing() (names []string) {
	if s.secretID == "" {
		names = append(names, varSecretID[0])
	}
	if s.secretKey == "" {
		names = append(names, varSecretKey[0])
	}
	return names
}

// credentials returns the variables to check when the API rejects the key.
func (s settings) credentials() []string {
	names := []string{varSecretID[0], varSecretKey[0]}
	if s.token != "" {
		names = append(names, varToken[0])
	}
	return names
}

// redact removes the account's secrets from an error.
func (s settings) redact(f *fault.Error) *fault.Error {
	var pairs []string
	for _, secret := range []string{s.secretKey, s.token, s.secretID} {
		if len(secret) >= 8 { // shorter ones are words of any sentence
			pairs = append(pairs, secret, "[secret]")
		}
	}
	c := *f
	c.Message = strings.NewReplacer(pairs...).Replace(f.Message)
	return &c
}
