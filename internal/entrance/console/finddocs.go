package console

import "regexp"

// docs are the documents for users, by their files. They are not part of the program: the palette leads to the ones of its
// version, on the pages of the project.
var docs = []string{
	"agents", "approvals", "audit", "backup", "benchmarks", "cloudbase", "commands", "connections", "console", "environments",
	"extensions", "guide", "identity", "install", "limits", "operations", "policy", "recall", "recipes", "rest", "results",
	"rollout", "safety", "sandbox", "schema", "scripts", "search", "security", "setup", "steps", "upgrading",
}

var release = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

// findDocs are the documents, which are in English.
func (c *Console) findDocs(v *visit) (all []hit) {
	at := "main"
	if release.MatchString(c.Version) {
		at = c.Version
	}
	for _, name := range docs {
		file := "docs/" + name + ".md"
		all = append(all, hit{Kind: "doc", Name: text(v.lang, "doc."+name), About: file, also: name + " " + inAll("doc."+name),
			Path: "https://github.com/toolfit/toolfit/blob/" + at + "/" + file, Away: true, weight: oneDoc})
	}
	return all
}
