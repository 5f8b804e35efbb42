package recall

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
)

// neverListed is a catalog with a server whose tools nobody knows.
type neverListed struct {
	Catalog
	waited *[]tool.ServerID
}

func (n neverListed) ServerReady(_ context.Context, id tool.ServerID) {
	*n.waited = append(*n.waited, id)
}

func (n neverListed) Servers() []catalog.Server {
	return []catalog.Server{{ID: "gone", Reason: `server gone cannot be started: command "x" does not exist (install it, or correct ` +
		`the command of gone)`}}
}

func TestAServerThatWasNeverListedIsWaitedForAloneAndSaysWhy(t *testing.T) {
	w := newWorld(t, "listen: 0.0.0.0:30779\nmcpServers: {gone: {command: x}}\nrecall: {trust: [192.0.2.0/24]}", nil)
	var waited []tool.ServerID
	w.Catalog = neverListed{w.Catalog, &waited}
	res := w.do("POST " + private + "/mcp/proxy/gone/tools/t/call\nX-Language: zh-CN\n\n{}")
	if res.Code != 502 || !strings.Contains(res.Body.String(), `"message":"服务器 gone 无法启动：命令 \"x\" 不存在（请安装它，或更正 gone 的命令）"`) {
		t.Errorf("%d %s", res.Code, res.Body)
	}
	if !slices.Equal(waited, []tool.ServerID{"gone"}) {
		t.Errorf("waited for %v", waited)
	}
}
