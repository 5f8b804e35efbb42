package clients

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

const base = "https://tools.example.com/gate"

func TestEveryGuideHasTheAddressAndTheKeyAsTheGatewayWantsThem(t *testing.T) {
	for _, tt := range []struct {
		name          string
		g             Gateway
		has, lacks    string
		unlessItNames string // the variable alone is fine where it can be named
	}{
		{"no key is needed", Gateway{Base: base, Profile: "work"}, "", "KEY", ""},
		{"a variable", Gateway{Base: base, Profile: "work", Variable: "TF"}, "TF", "tf_", ""},
		{"a key that is shown once", Gateway{Base: base, Profile: "work", Variable: "TF", Key: "tf_a_b"}, "tf_a_b", "<TF>", `bearer_token_env_var = "TF"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, g := range Guides(tt.g) {
				if g.Title == "" || len(g.Steps) == 0 {
					t.Errorf("%s has no title or nothing to do", g.Name)
				}
				for _, s := range g.Steps {
					if !strings.Contains(s.Text, base) || !strings.Contains(s.Text, "work") {
						t.Errorf("%s: %s lacks the address", g.Name, s.Text)
					}
					if s.Where == "URL" || s.Where == "Settings › Connectors › Add custom connector" {
						continue
					}
					named := tt.unlessItNames != "" && strings.Contains(s.Text, tt.unlessItNames)
					if !strings.Contains(s.Text, tt.has) && !named || strings.Contains(s.Text, tt.lacks) {
						t.Errorf("%s: %q or not %q in\n%s", g.Name, tt.has, tt.lacks, s.Text)
					}
					if strings.HasSuffix(s.Where, ".json") && !json.Valid([]byte(s.Text)) {
						t.Errorf("%s: %s is not JSON", g.Name, s.Text)
					}
				}
			}
		})
	}
}

func TestLinksHoldWhatTheFilesHold(t *testing.T) {
	for _, key := range []string{"", "tf_a_b"} {
		for _, g := range Guides(Gateway{Base: base, Profile: "a b&c", Variable: "TF", Key: key}) {
			want := key
			if want == "" {
				want = "${env:TF}"
			}
			var link string
			switch g.Name {
			case "cursor", "lmstudio":
				if g.Name == "lmstudio" && key == "" {
					if g.Link != "" {
						t.Errorf("a link without a key, which LM Studio could not take from a variable: %s", g.Link)
					}
					continue
				}
				u, err := url.Parse(g.Link)
				if err != nil {
					t.Fatal(err)
				}
				text, _ := base64.StdEncoding.DecodeString(u.Query().Get("config"))
				link = string(text)
			case "vscode":
				_, query, _ := strings.Cut(g.Link, "vscode:mcp/install?")
				link, _ = url.PathUnescape(query)
			default:
				if g.Link != "" {
					t.Errorf("%s has a link, which cannot hold the key: %s", g.Name, g.Link)
				}
				continue
			}
			var server struct {
				URL     string
				Headers map[string]string
			}
			if err := json.Unmarshal([]byte(link), &server); err != nil {
				t.Fatalf("%s: %v in %s", g.Name, err, link)
			}
			if server.URL != base+"/mcp/a%20b&c" || server.Headers["Authorization"] != "Bearer "+want {
				t.Errorf("%s: %s", g.Name, link)
			}
		}
	}
}

func TestSnippetsAreInTheClientsOwnForm(t *testing.T) {
	want := map[string]string{
		"claude-code": "claude mcp add --transport http toolfit https://h/mcp/p --header 'Authorization: Bearer ${TF}'",
		"codex":       "codex mcp add toolfit --url https://h/mcp/p --bearer-token-env-var TF",
		"zed":         "{\n  \"context_servers\": {\n    \"toolfit\": {\n      \"url\": \"https://h/mcp/p\",\n      \"headers\": {\n        \"Authorization\": \"Bearer <TF>\"\n      }\n    }\n  }\n}\n",
		"opencode":    "{\n  \"mcp\": {\n    \"toolfit\": {\n      \"type\": \"remote\",\n      \"url\": \"https://h/mcp/p\",\n      \"headers\": {\n        \"Authorization\": \"Bearer {env:TF}\"\n      }\n    }\n  }\n}\n",
		"goose": "extensions:\n  toolfit:\n    name: toolfit\n    type: streamable_http\n    enabled: true\n    timeout: 300\n    uri: \"https://h/mcp/p\"\n" +
			"    env_keys: [TF]\n    headers:\n      Authorization: \"Bearer ${TF}\"\n",
	}
	for _, g := range Guides(Gateway{Base: "https://h", Profile: "p", Variable: "TF"}) {
		if text, ok := want[g.Name]; ok && g.Steps[0].Text != text {
			t.Errorf("%s:\n%s\nwant\n%s", g.Name, g.Steps[0].Text, text)
		}
	}
}

func TestClientsAreKnownByWhatTheyCallThemselves(t *testing.T) {
	for says, want := range map[string]string{
		"claude-code": "claude-code", "claude-ai (via mcp-remote 0.1.37)": "claude-desktop", "cursor-vscode": "cursor", "Visual Studio Code": "vscode",
		"Zed": "zed", "codex-mcp-client": "codex", "gemini-cli-mcp-client": "gemini-cli", "Cline": "cline", "lmstudio-mcp-bridge": "lmstudio", "Roo Code": "roo", "mcp": "python",
		"mcp-something": "", "rooster": "", "": "",
	} {
		got := ""
		for _, g := range Guides(Gateway{}) {
			if g.Is(says) {
				got += g.Name
			}
		}
		if got != want {
			t.Errorf("%q is %q, want %q", says, got, want)
		}
	}
}
