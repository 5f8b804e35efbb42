package console_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestCallShowsItsArgumentsAsSentAndAsFitted(t *testing.T) {
	w := newWorld(t, demoConfig+"resultStore: all\n")
	repaired, _, refused := w.furnish()
	p := w.person()
	p.header.Set("Accept-Language", "zh-CN")
	for id, want := range map[string][]string{
		repaired: {"参数：发送时（−）与工具收到时（", "工具收到的参数", "文本中的数字，已转换", "再次调用"},
		refused:  {"调用方发送的参数", "调用在到达工具之前已被拒绝", "：缺少，应为 integer", "重试"},
	} {
		_, body := p.ask("GET", "/calls/"+id, nil)
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%s lacks %s", id, text)
			}
		}
	}
	p = w.person()
	_, body := p.ask("GET", "/calls/"+repaired, nil)
	for _, text := range []string{
		"Arguments, as sent", "Arguments received by the tool", `<div class="minus"><i>-</i>  &#34;limit&#34;: &#34;2&#34;</div>`,
		`<div class="plus"><i>&#43;</i>  &#34;limit&#34;: 2 <small>number in a string, converted</small></div>`,
		`href="/tools/shop__list_orders?from=` + repaired + `&amp;profile=default"`, "Call again", "All of it", `href="/calls/compare?b=` + repaired + `"`,
	} {
		if !strings.Contains(body, text) {
			t.Errorf("the page lacks %s", text)
		}
	}
}

func TestExportHasTheArgumentsAsSentAndAsFitted(t *testing.T) {
	w := newWorld(t, demoConfig)
	repaired, _, _ := w.furnish()
	resp, err := http.Get(w.URL + "/calls/export?tool=shop__list_orders")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		var c struct {
			ID        string
			Arguments struct{ Sent, Fitted struct{ Limit any } }
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if c.ID == repaired {
			if _, text := c.Arguments.Sent.Limit.(string); !text || c.Arguments.Fitted.Limit == nil {
				t.Errorf("exported %s", line)
			}
			return
		}
	}
	t.Errorf("%s is not exported", repaired)
}
