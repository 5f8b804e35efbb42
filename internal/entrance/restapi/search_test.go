package restapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/call"
)

func TestACallerFindsAndReadsOnlyWhatItMayCall(t *testing.T) {
	g := newGateway(t)
	for _, path := range []string{"/api/v1/search?q=customers+category+export+order&limit=50&detail=full", "/api/v1/prompt?format=sig"} {
		status, body := g.ask(t, "ann", "GET", path, "")
		if status != 200 || !strings.Contains(body, "shop__get_order") {
			t.Fatalf("HTTP %d: %s", status, body)
		}
		for _, hidden := range []string{"shop__find_customers", "shop__category_tree", "shop__export_all", "cloud__"} {
			if strings.Contains(body, hidden) {
				t.Errorf("%s shows %s: %s", path, hidden, body)
			}
		}
		if status, body := g.ask(t, "ann", "GET", path+"&profile=wide", ""); status != 403 {
			t.Errorf("another profile: HTTP %d: %.200s", status, body)
		}
		if status, _ := g.ask(t, "eye", "GET", path, ""); status != 200 {
			t.Errorf("a viewer gets HTTP %d", status)
		}
		if status, _ := g.ask(t, "", "GET", path, ""); status != 401 {
			t.Errorf("nobody gets HTTP %d", status)
		}
	}
}

func TestSearchAnswersInOrder(t *testing.T) {
	g := newGateway(t)
	_, body := g.ask(t, "root", "GET", "/api/v1/search?q=find+a+customer&limit=3&detail=name", "")
	var found call.Found
	if err := json.Unmarshal([]byte(body), &found); err != nil || len(found.Tools) == 0 || found.Tools[0].Name != "shop__find_customers" {
		t.Fatalf("%s, %v", body, err)
	}
	for i := 1; i < len(found.Tools); i++ {
		if found.Tools[i].Score > found.Tools[i-1].Score {
			t.Errorf("not sorted: %s", body)
		}
	}
}

func TestWrongQuestionsAreRefused(t *testing.T) {
	g := newGateway(t)
	for _, path := range []string{
		"search", "search?q=", "search?q=x&limit=0", "search?q=x&limit=1e3", "search?q=x&limit=51", "search?q=x&detail=all",
		"prompt?format=pdf", "prompt?budget=-5", "prompt?budget=many", "prompt?dialect=x", "prompt?groups=perhaps",
	} {
		if status, body := g.ask(t, "root", "GET", "/api/v1/"+path, ""); status != 400 {
			t.Errorf("%s: HTTP %d: %.200s", path, status, body)
		}
	}
}

func TestPreferredLanguage(t *testing.T) {
	for accept, want := range map[string]string{
		"": "", "*": "", "zh-CN,zh;q=0.9,en;q=0.8": "zh-CN", "en;q=0.5, zh-Hans": "zh-Hans", "fr;q=0, de;q=0.1": "de", ";;,": "", "a;q=x": "", "a;q=9,b;q=.2": "b",
	} {
		if got := restapi.Preferred(accept); got != want {
			t.Errorf("%q: %q, want %q", accept, got, want)
		}
	}
}

func FuzzPreferredLanguage(f *testing.F) {
	f.Add("zh-CN,zh;q=0.9,*;q=0.1")
	f.Add(";q=NaN,\xff;q=1")
	f.Fuzz(func(t *testing.T, accept string) {
		if got := restapi.Preferred(accept); !strings.Contains(accept, got) || got == "*" {
			t.Errorf("%q: %q", accept, got)
		}
	})
}
