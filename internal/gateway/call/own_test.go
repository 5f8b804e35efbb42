package call

import (
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/tool"
)

func TestOurDefinitionsCanBeRead(t *testing.T) {
	names := map[string]bool{FetchResult: true, FindTools: true, DescribeTool: true, CallTool: true}
	for _, overview := range []string{"", `a "b" (c), 服务 \`, strings.Repeat("x", 5000)} {
		own := OwnTools(true)
		for _, raw := range append(own.Search(overview), own.Fetch, OwnTools(false).Fetch) {
			def, err := tool.ParseDefinition(raw)
			if err != nil || def.Description() == "" || !names[def.Name] {
				t.Errorf("%s: %v", raw, err)
			}
		}
	}
}

func TestOnlyWithJQDoesFetchResultTakePrograms(t *testing.T) {
	for _, jq := range []bool{true, false} {
		if got := strings.Contains(string(OwnTools(jq).Fetch), `"jq":{`); got != jq {
			t.Errorf("%v: %v", jq, got)
		}
	}
}
