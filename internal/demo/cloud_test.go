package demo

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestListIsFat(t *testing.T) {
	a := call(t, Cloud(), "envQuery", `{"action":"list"}`)
	// 3.5 bytes for a token is more than tokenizers need for ids, digits and Chinese.
	if tokens := float64(len(a.text())) / 3.5; tokens < 20_000 {
		t.Errorf("the list is %d bytes, about %.0f tokens; want 20,000 or more", len(a.text()), tokens)
	}
	var list struct {
		EnvList    []map[string]json.RawMessage
		TotalCount int
	}
	if err := json.Unmarshal(a.Structured, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.EnvList) != 40 || list.TotalCount != 40 {
		t.Fatalf("got %d rows and TotalCount %d, want 40", len(list.EnvList), list.TotalCount)
	}
	fields := strings.Fields(`EnvId Alias Status EnvType Region PackageName PackageId IsDefault Databases Storages
		Functions LogServices StaticStorages Tags EnvPreferences CreateTime UpdateTime Source PackageType EnvStatus
		IsAutoDegrade EnvChannel PayMode IsDauPackage CustomLogServices`)
	seen := map[string]bool{}
	for i, row := range list.EnvList {
		for _, name := range fields {
			if row[name] == nil {
				t.Errorf("row %d lacks %s", i, name)
			}
		}
		if len(row) != len(fields) {
			t.Errorf("row %d has %d fields, want %d", i, len(row), len(fields))
		}
		if id := string(row["EnvId"]); seen[id] {
			t.Errorf("EnvId %s comes twice", id)
		} else {
			seen[id] = true
		}
	}
}

func TestEnvQuery(t *testing.T) {
	id := environments()[3].EnvID
	tests := []struct {
		name, args string
		isError    bool
		want       []string
	}{
		{"info gives one row", `{"action":"info","envId":"` + id + `"}`, false, []string{`"EnvList": [`, id, `"TotalCount": 1`}},
		{"envId narrows list to one row", `{"action":"list","envId":"` + id + `"}`, false, []string{id, `"TotalCount": 1`}},
		{"domains gives the allowed domains", `{"action":"domains","envId":"` + id + `"}`, false, []string{`"Domains"`, "localhost:3000"}},
		{"hosting gives the website", `{"action":"hosting","envId":"` + id + `"}`, false, []string{`"StaticDomain"`, "web.example.com"}},
		{"Chinese stays readable", `{"action":"list"}`, false, []string{"优选商城·生产", "个人版", "免费版"}},
		{"a part of an id is answered with the ids that hold it", `{"action":"info","envId":"clinic"}`, true, []string{`no environment "clinic"`, "clinic-prod-", "clinic-test-"}},
		{"a misspelt id is answered with near ones", `{"action":"info","envId":"` + id[:len(id)-1] + `_"}`, true, []string{"near ids are " + id}},
		{"info without envId is refused", `{"action":"info"}`, true, []string{"envId: expected the EnvId of an environment for action info, got nothing"}},
		{"an unknown action is refused", `{"action":"delete"}`, true, []string{`action: expected one of list, info, domains, hosting, got the string "delete"`}},
		{"a number as envId is refused", `{"action":"info","envId":7}`, true, []string{"envId: expected a string", "got the number 7"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := call(t, Cloud(), "envQuery", tt.args)
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
