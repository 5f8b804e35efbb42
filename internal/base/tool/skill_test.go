package tool

import (
	"encoding/json"
	"strings"
	"testing"
)

const sampleDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// sampleSkill is the entry of a skill with one more file.
const sampleSkill = `{ "uri":"skill://acme/refunds/SKILL.md","frontmatter":{"name":"refunds","description":"Refunds","x":[1.0]},
	"resources":[{"uri":"skill://acme/refunds/SKILL.md","digest":"` + sampleDigest + `","size":1},
	{"digest":"` + sampleDigest + `","size":0,"uri":"skill://acme/refunds/a%20b/c.md"}],"more":null}`

func TestSkillsThatStrictClientsRefuseAreInvalid(t *testing.T) {
	if uri, err := CheckSkill(json.RawMessage(sampleSkill)); err != nil || uri != "skill://acme/refunds/SKILL.md" {
		t.Fatalf("%s, %v", uri, err)
	}
	dynamic := `{"uri":"github://a/b/SKILL.md","frontmatter":{"name":"b","description":"B"},"resources":"dynamic"}`
	if _, err := CheckSkill(json.RawMessage(dynamic)); err != nil {
		t.Error(err)
	}
	for why, change := range map[string][2]string{
		"not in a directory":         {`"skill://acme/refunds/SKILL.md","front`, `"skill:SKILL.md","front`},
		"another name":               {`"name":"refunds"`, `"name":"other"`},
		"a name in capitals":         {`refunds`, `Refunds`},
		"no description":             {`"description":"Refunds"`, `"description":""`},
		"a long description":         {`"description":"Refunds"`, `"description":"` + strings.Repeat("é", 1025) + `"`},
		"two URIs":                   {`"more"`, `"uri"`},
		"two lists of files":         {`"more"`, `"resources"`},
		"two URIs of a file":         {`"size":0`, `"uri":"skill://acme/refunds/d"`},
		"a file elsewhere":           {`acme/refunds/a%20b`, `acme/other/a`},
		"a file above":               {`a%20b/c.md`, `a/%2E%2e/%2e./b/SKILL.md`},
		"a file with a query":        {`c.md`, `c.md?d`},
		"a file with a bad escape":   {`%20`, `%2g`},
		"a file twice":               {`a%20b/c.md`, `SKILL.md`},
		"no SKILL.md":                {`[{"uri":"skill://acme/refunds/SKILL.md"`, `[{"uri":"skill://acme/refunds/SKILL2.md"`},
		"a digest in capitals":       {`abcdef","size":0`, `ABCDEF","size":0`},
		"no digest":                  {`"digest"`, `"digestion"`},
		"a size that is no integer":  {`"size":1`, `"size":1.5`},
		"a size that is a text":      {`"size":1`, `"size":"1"`},
		"files that are no list":     {`"resources":[`, `"resources":"static","other":[`},
		"frontmatter that is a text": {`"frontmatter":{`, `"frontmatter":"","other":{`},
		"no frontmatter":             {`"frontmatter"`, `"backmatter"`},
		"a long URI":                 {`acme`, strings.Repeat("a", maxSkillURI)},
		"half of it":                 {`"more":null}`, ``},
	} {
		entry := strings.ReplaceAll(sampleSkill, change[0], change[1])
		if strings.HasPrefix(why, "a size") || why == "no digest" || why == "no SKILL.md" {
			entry = strings.Replace(sampleSkill, change[0], change[1], 1)
		}
		if entry == sampleSkill {
			t.Fatalf("%s: nothing was changed", why)
		}
		if uri, err := CheckSkill(json.RawMessage(entry)); err == nil {
			t.Errorf("%s: %s is valid", why, uri)
		}
	}
}

// FuzzCheckSkill holds that a valid entry reads the same to those who decode it.
func FuzzCheckSkill(f *testing.F) {
	f.Add([]byte(sampleSkill))
	f.Add([]byte(`{"uri":"a://b/SKILL.md","frontmatter":{"name":"b","description":"B"},"resources":"dynamic"}`))
	f.Fuzz(func(t *testing.T, entry []byte) {
		uri, err := CheckSkill(entry)
		if err != nil || !json.Valid(entry) {
			return
		}
		var read map[string]json.RawMessage
		var decoded string
		if err := json.Unmarshal(entry, &read); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(read["uri"], &decoded); err != nil || decoded != uri {
			t.Fatalf("%q is %q, %v", uri, decoded, err)
		}
		if string(read["resources"]) == `"dynamic"` {
			return
		}
		var files []map[string]any
		if err := json.Unmarshal(read["resources"], &files); err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if at, _ := file["uri"].(string); !strings.HasPrefix(at, SkillDirectory(uri)+"/") {
				t.Fatalf("%q has the file %q", uri, at)
			}
		}
	})
}
