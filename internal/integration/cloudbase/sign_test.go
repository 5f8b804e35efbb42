package cloudbase

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The example that the cloud's documentation of the signature gives.
func TestRequestsAreSignedAsInTheDocumentation(t *testing.T) {
	body := `{"Limit": 1, "Filters": [{"Values": ["\u672a\u547d\u540d"], "Name": "instance-name"}]}`
	r := httptest.NewRequest("POST", "https://cvm.tencentcloudapi.com/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	s := settings{secretID: "AKIDz8krbsJ5yKBZQpn74WFkmLPx3*******", secretKey: "Gu5t9xGARNpq86cd98joQYCN3*******"}
	s.sign(r, "cvm", []byte(body), time.Unix(1551113065, 0))
	const want = "TC3-HMAC-SHA256 Credential=AKIDz8krbsJ5yKBZQpn74WFkmLPx3*******/2019-02-25/cvm/tc3_request, " +
		"SignedHeaders=content-type;host, Signature=2230eefd229f582d8b1b891af7107b91597240707d778ab3738f756258d7652c"
	if got := r.Header.Get("Authorization"); got != want || r.Header.Get("X-TC-Timestamp") != "1551113065" {
		t.Errorf("got %s at %s, want %s", got, r.Header.Get("X-TC-Timestamp"), want)
	}
}
