package demo

import (
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/integration/cloudbase/fake"
)

func TestListIsFat(t *testing.T) {
	a := call(t, Cloud(nil), "envQuery", `{"action":"list"}`)
	if n := strings.Count(a.text(), `{"EnvId":`); n != 40 || len(a.text()) < 50_000 || !strings.HasSuffix(a.text(), `"TotalCount":40}`) {
		t.Errorf("%d rows in %d bytes, want 40 in 50,000 or more", n, len(a.text()))
	}
}

func TestEnvQuery(t *testing.T) {
	id := fake.New(nil).EnvIDs()[3]
	tests := []struct {
		name, args string
		isError    bool
		want       []string
	}{
		{"info gives one row", `{"action":"info","envId":"` + id + `"}`, false, []string{`"EnvList":[`, id}},
		{"envId narrows list to one row", `{"action":"list","envId":"` + id + `"}`, false, []string{id, `"TotalCount":1`}},
		{"domains gives the allowed domains", `{"action":"domains","envId":"` + id + `"}`, false, []string{`"Domains"`, "localhost:3000"}},
		{"hosting gives the website", `{"action":"hosting","envId":"` + id + `"}`, false, []string{`"StaticDomain"`, "web.example.com"}},
		{"Chinese stays readable", `{"action":"list"}`, false, []string{"优选商城·生产", "个人版", "免费版"}},
		{"an unknown id is an error that says where the ids are", `{"action":"domains","envId":"clinic"}`, true,
			[]string{`"not_found"`, "clinic", "action=list"}},
		{"info without envId is refused", `{"action":"info"}`, true,
			[]string{"envId: expected the EnvId of an environment for action info, got nothing"}},
		{"an unknown action is refused", `{"action":"delete"}`, true,
			[]string{`action: expected one of list, info, domains, hosting, got the string \"delete\"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := call(t, Cloud(nil), "envQuery", tt.args)
			if a.IsError != tt.isError {
				t.Fatalf("isError is %t: %s", a.IsError, a.text())
			}
			for _, want := range tt.want {
				if !strings.Contains(a.text(), want) {
					t.Errorf("%q is not in %.400s", want, a.text())
				}
			}
		})
	}
}
