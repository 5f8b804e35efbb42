package prompt

import (
	"slices"
	"testing"
)

func TestOverview(t *testing.T) {
	size := func(text []byte) int { return len(text) / 4 }
	tools := []Tool{{Name: "github__list_issues", Server: "github"}, {Name: "github__createIssue", Server: "github"},
		{Name: "github__get_pull_request", Server: "github"},
		{Name: "files__read_file", Server: "files"}, {Name: "shop__x", Server: "shop", Tags: []string{"orders", "carts"}}}
	want := "files (file), github (issue, issues, pull, request), shop (carts, orders)"
	for range 10 {
		slices.Reverse(tools)
		if got := Overview(serversOf(tools), 300, size); got != want {
			t.Fatalf("got %s\nwant %s", got, want)
		}
	}
	for _, budget := range []int{300, 40, 10, 3, 0} {
		if text := Overview(serversOf(many(300)), budget, size); budget > 3 && size([]byte(text)) > budget {
			t.Errorf("%d tokens: %s", budget, text)
		}
	}
	if got := Overview(nil, 300, size); got != "" {
		t.Errorf("no tools: %q", got)
	}
}

func serversOf(tools []Tool) (list []Server) {
	byServer := map[string][]Tool{}
	for _, t := range tools {
		byServer[t.Server] = append(byServer[t.Server], t)
	}
	for name, its := range byServer {
		list = append(list, Server{name, Topics(name, its)})
	}
	return list
}

func TestAutoChangesItsMindOnlyForAReason(t *testing.T) {
	cases := []struct {
		tokens, context int
		was, want       Mode
	}{
		{9900, 0, "", List}, {10100, 0, "", Search}, {10100, 0, List, List}, {12100, 0, List, Search}, {9000, 0, Search, Search},
		{7900, 0, Search, List},
		{1, 1_000_000, Search, List}, {0, 0, "", List}, {500, 8000, "", Search},
	}
	for _, c := range cases {
		if got := Auto(c.tokens, c.context, c.was); got != c.want {
			t.Errorf("%d of %d after %q is %s, want %s", c.tokens, c.context, c.was, got, c.want)
		}
	}
}
