package schema

import (
	"os"
	"regexp"
	"testing"
)

func TestTheDocumentNamesEveryDialect(t *testing.T) {
	document, err := os.ReadFile("../docs/schema.md")
	if err != nil {
		t.Fatal(err)
	}
	for d := range dialects {
		row := regexp.MustCompile("(?m)^\\|[^|]*`" + string(d) + "`[^|]*\\|[^|\n]*\\|[^|\n]*\\|$")
		if !row.Match(document) {
			t.Errorf("the table of dialects in docs/schema.md lacks %s", d)
		}
	}
}
