package config

import (
	"strings"
	"testing"
	"time"
)

func TestRecallIsServedWhereTheFileHasIt(t *testing.T) {
	cfg, err := Parse("toolfit.yaml", []byte(`
listen: 0.0.0.0:30779
recall:
  fixed: bind
  trust: [10.0.0.0/8, 192.168.1.7]
  ontologyQuery: {url: "http://ontology-query:13018/"}
  actions:
    - {kn_id: shop, at_id: 查订单, mcp_id: shop, tool_name: list_orders, parameters: {limit: 10000000000000000001}}
    - {kn_id: shop, at_id: pet, tool: petstore__addPet}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := cfg.Recall
	if r.Answer != "proxy" || r.Fixed != "bind" || !r.IsErrorAlias || r.Echo || r.Depth != 3 || r.Dialect != "recall" ||
		r.Language != "en-US" || r.Profile != DefaultProfile || len(r.Trust) != 2 {
		t.Errorf("got %+v", r)
	}
	if r.OntologyQuery != (RecallUpstream{"http://ontology-query:13018", 2 * time.Second}) || r.OperatorIntegration.URL != "" {
		t.Errorf("got %+v, %+v", r.OntologyQuery, r.OperatorIntegration)
	}
	if len(r.Actions) != 2 || string(r.Actions[0].Parameters) != `{"limit":10000000000000000001}` || string(r.Actions[1].Parameters) != "{}" {
		t.Errorf("got %+v", r.Actions)
	}
	if got := cfg.RecallAddress(); got != "agent-retrieval:30779" {
		t.Errorf("got %s", got)
	}
}

func TestRecallIsReachedWhereWeListenUnlessTheFileSaysMore(t *testing.T) {
	for text, want := range map[string]string{
		"recall: {}":                    "127.0.0.1:8420",
		"listen: '[::]:80'\nrecall: {}": "agent-retrieval:80",
		"listen: ':80'\nrecall: {name: a.svc, port: 443}": "a.svc:443",
	} {
		cfg, err := Parse("toolfit.yaml", []byte(text), nil)
		if err != nil || cfg.RecallAddress() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if cfg, _ := Parse("toolfit.yaml", []byte("recall:\n"), nil); cfg.Recall != nil {
		t.Error("a key without a value is not given")
	}
}

func TestRecallProblemsNameFieldAndFix(t *testing.T) {
	for text, want := range map[string]string{
		"recall: {answer: driver}":               "recall: answer: driver needs ontologyQuery.url",
		"recall: {ontologyQuery: {timeout: 1s}}": "recall.ontologyQuery: needs url",
		"recall: {operatorIntegration: {url: 'ftp://x'}}": "recall.operatorIntegration.url: expected an " +
			"address",
		"recall: {depth: 0}":              "recall.depth: expected a whole number from 1 to 16",
		"recall: {dialect: opanai}":       "recall.dialect: expected anthropic or",
		"recall: {trust: [everyone]}":     "recall.trust[0]: expected a network",
		"recall: {profile: ops}":          `recall.profile: there is no profile "ops"`,
		"recall: {language: fr}":          "recall.language: expected zh-CN or en-US",
		"recall: {actions: [{kn_id: a}]}": "recall.actions[0]: needs kn_id and at_id",
		"recall: {actions: [{kn_id: a, at_id: b}]}": "recall.actions[0]: needs mcp_id and tool_name, " +
			"or tool",
		"recall: {actions: [{kn_id: a, at_id: b, mcp_id: c}]}": "recall.actions[0]: needs mcp_id and tool_name, " +
			"or tool",
		"recall: {actions: [{kn_id: a, at_id: b, tool: c, tool_name: d}]}": "recall.actions[0]: needs mcp_id and tool_name, " +
			"or tool",
		"recall: {actions: [{kn_id: a, at_id: b, tool: c, parameters: [1]}]}":               "recall.actions[0].parameters: expected a mapping",
		"recall: {actions: [{kn_id: a, at_id: b, tool: c}, {kn_id: a, at_id: b, tool: d}]}": "recall.actions[1]: the action is there twice",
	} {
		if _, err := Parse("toolfit.yaml", []byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
