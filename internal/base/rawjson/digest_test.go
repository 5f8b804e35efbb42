package rawjson

import "testing"

func TestDigest(t *testing.T) {
	for _, tc := range []struct {
		rule, a, b string
		same       bool
	}{
		{"the order of members does not matter", `{"a":1,"b":[true]}`, ` { "b" : [ true ] , "a" : 1 } `, true},
		{"escapes do not matter", `{"a":"\u9000款"}`, `{"a":"退款"}`, true},
		{"values do", `{"a":1}`, `{"a":2}`, false},
		{"the order of a list does", `[1,2]`, `[2,1]`, false},
		{"which of two members of one name comes last does", `{"env":"dev","env":"prod"}`, `{"env":"prod","env":"dev"}`, false},
		{"a text is no number", `{"a":"1"}`, `{"a":1}`, false},
		{"a member is not its value's", `{"a":{"b":1}}`, `{"a":1,"b":1}`, false},
	} {
		if got := Digest([]byte(tc.a)) == Digest([]byte(tc.b)); got != tc.same {
			t.Errorf("%s: %s and %s: same is %t", tc.rule, tc.a, tc.b, got)
		}
	}
}
