package deploy_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// changes are values that somebody sets, as YAML, under which the chart must be right.
var changes = map[string]string{
	"as it is":       "",
	"under a prefix": "config: {basePath: /tools/}",
	"another port":   "{port: 8080, grace: 5, ipv6: true, store: {kind: ephemeral}}",
	"another image":  "image: {repository: r.example/t, tag: '2', full: true, pullPolicy: Always, pullSecrets: [{name: registry}]}",
	"too long names": "nameOverride: " + strings.Repeat("a", 62) + "-b",
	"taken over":     "selector: {app: agent-retrieval, app.kubernetes.io/instance: old}",
	"a claim":        "store: {volume: {existingClaim: mine}}",
	"a class":        "store: {volume: {storageClass: fast, size: 20Gi, accessModes: [ReadWriteOncePod]}}",
	"a secret":       "secret: {name: keys}",
	"words of YAML":  "{priorityClass: 'yes', secret: {name: '1'}, store: {kind: postgres, postgres: {secret: 'null', key: 'on'}}}",
	"external": `{store: {kind: postgres}, secret: {external: {store: vault, keys: {TOOLFIT_ADMIN_KEY: {key: toolfit, property: admin},
  TOOLFIT_SECRET_KEY: {key: toolfit, property: seal}, dsn: {key: db}}}}}`,
	"pods": `podAnnotations: {a: b, c: "1"}
podLabels: {team: tools}
nodeSelector: {disk: ssd}
tolerations: [{key: gpu, operator: Exists}]
affinity:
  nodeAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 1, preference: {matchFields: [{key: metadata.name, operator: In, values: [n1]}]}}
topologySpread: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: b}}}]
priorityClass: high
serviceAccount: {create: false, name: cloud}
service: {type: LoadBalancer, annotations: {internal: "true"}}
env: [{name: TZ, value: Europe/Berlin}]
volumes: [{name: ca, configMap: {name: ca}}]
volumeMounts: [{name: ca, mountPath: /ca}]`,
	"everything": `replicas: 3
store: {kind: postgres, postgres: {secret: db, key: url}}
secret: {name: keys}
config:
  publicURL: https://tools.example.com
  hosts: [tools.example.com, "10.0.0.1"]
  mcpServers: {docs: {url: "https://docs.example.com/mcp"}}
autoscaling: {enabled: true, memory: 80}
disruptionBudget: {enabled: true, maxUnavailable: 25%}
networkPolicy:
  enabled: true
  from: [{namespaceSelector: {matchLabels: {a: b}}}]
  egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8}}], ports: [{port: 5432}]}]
serviceMonitor: {enabled: true, secret: prometheus, labels: {release: prometheus}}
ingress: {enabled: true, className: nginx, annotations: {nginx.ingress.kubernetes.io/proxy-buffering: "off"},
  hosts: [tools.example.com], tls: [{secretName: tls, hosts: [tools.example.com]}]}
httpRoute: {enabled: true, parentRefs: [{name: public, namespace: gateways}], hostnames: [t.example.com]}`,
	"closed": "networkPolicy: {enabled: true}",
}

// with returns the chart's own values with the changes, nested ones too, as Helm merges them.
func with(t *testing.T, change string) map[string]any {
	t.Helper()
	var set map[string]any
	if err := yaml.Unmarshal([]byte(change), &set); err != nil {
		t.Fatalf("%v\n%s", err, change)
	}
	values := readYAML[map[string]any](t, "chart/values.yaml")
	overlay(values, set)
	return values
}

func overlay(into, set map[string]any) {
	for key, v := range set {
		below, isMap := into[key].(map[string]any)
		if next, ok := v.(map[string]any); ok && isMap {
			overlay(below, next)
			continue
		}
		into[key] = v
	}
}

// sets are all values under which the chart must be right, by name.
func sets(t *testing.T) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for name, change := range changes {
		all[name] = with(t, change)
	}
	all["recall"] = with(t, string(read(t, "chart/values-recall.yaml")))
	return all
}

// refused are values that the chart does not take, and what it says.
var refused = map[string]string{
	"replicas: 0":                         "replicas",
	"replica: 2":                          "replica",
	"store: {kind: mysql}":                "kind",
	"port: 80":                            "port", // the pod is not root
	"nameOverride: 工具":                    "nameOverride",
	"nameOverride: My Tools":              "nameOverride",
	"image: {tag: 1.0}":                   "tag",
	"ingress: {host: x}":                  "host",
	"ingress: {hosts: ['*.example.com']}": "hosts", // the gateway serves only names that it knows
	"env: {A: b}":                         "env",
	"config: []":                          "config",
	"serviceMonitor: {interval: 30}":      "interval",
	"secret: {external: {keys: {A: b}}}":  "A",

	"replicas: 2":                             "more than one replica needs a store that they share",
	"autoscaling: {enabled: true}":            "more than one replica needs a store that they share",
	"store: {kind: postgres}":                 "needs store.postgres.secret",
	"config: {store: x.db}":                   "set port and store.kind instead",
	"config: {listen: 'a:1'}":                 "set port and store.kind instead",
	"ingress: {enabled: true}":                "ingress.hosts is empty",
	"httpRoute: {enabled: true}":              "httpRoute needs hostnames and parentRefs",
	"serviceMonitor: {enabled: true}":         "a viewer's key",
	"secret: {external: {store: v}}":          "secret.external.keys is empty",
	"secret: {name: a, external: {store: v}}": "exclude each other",
}

// valuesSchema is the compiled values.schema.json.
func valuesSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(read(t, "chart/values.schema.json")))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("values.json", doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("values.json")
}

// asJSON gives values the types that JSON has.
func asJSON(t *testing.T, v any) (out any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWrongValuesAreRefusedWithASentence(t *testing.T) {
	schema := valuesSchema(t)
	for name, v := range sets(t) {
		if err := schema.Validate(asJSON(t, v)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for change, want := range refused {
		v := with(t, change)
		err := schema.Validate(asJSON(t, v))
		if err == nil {
			_, _, err = render(t, v)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", change, err)
		}
	}
}

func TestTheSchemaKnowsExactlyTheValues(t *testing.T) {
	schema := readYAML[map[string]any](t, "chart/values.schema.json")
	compareKeys(t, "", schema, readYAML[map[string]any](t, "chart/values.yaml"))
}

func compareKeys(t *testing.T, path string, schema, values map[string]any) {
	t.Helper()
	properties, _ := schema["properties"].(map[string]any)
	for key := range properties {
		if _, ok := values[key]; !ok && key != "global" { // which Helm itself adds
			t.Errorf("values.yaml has no %s%s", path, key)
		}
	}
	for key, v := range values {
		below, ok := properties[key].(map[string]any)
		if !ok {
			t.Errorf("the schema has no %s%s", path, key)
			continue
		}
		if next, isMap := v.(map[string]any); isMap && below["properties"] != nil {
			compareKeys(t, path+key+".", below, next)
		}
	}
}
