package steps

// rulesEn are the English sentences.
func rulesEn() []rule {
	accept := func(yes bool) func(*Step) {
		return func(s *Step) { s.Dialog = &Dialog{Accept: yes, Text: s.Value}; s.Value = "" }
	}
	to := func(where string) func(*Step) { return func(s *Step) { s.Value = where } }
	return []rule{
		r(WaitFor, `wait 3 seconds`, `wait\s+(?:for\s+)?(?P<ms>[\d.]+)\s*(?:ms|milliseconds?)`),
		r(WaitFor, `wait 3 seconds`, `wait\s+(?:for\s+)?(?P<sec>[\d.]+)\s*(?:s|secs?|seconds?)`),
		r(WaitFor, `wait 3 seconds`, `wait\s+(?:for\s+)?(?P<min>[\d.]+)\s*(?:m|mins?|minutes?)`),
		r(WaitFor, `wait for url "…"`, `wait\s+(?:for|until)\s+(?:the\s+)?(?:page\s+)?url\s+(?:to\s+)?(?:be|is|contains?|becomes?)?\s*(?P<url>.+)`),
		r(WaitFor, `wait for "…"`, `wait\s+(?:for|until)\s+(?:(?:I|we|you)\s+see|(?:the\s+)?page\s+(?:shows|contains|displays))\s+(?:the\s+)?(?:text\s+)?(?P<text>.+)`),
		r(WaitFor, `wait for "…" to disappear`, `wait\s+(?:for|until)\s+(?:the\s+)?(?:text\s+)?(?P<gone>.+?)\s+(?:to\s+)?(?:disappears?|is gone|be gone|goes away|go away|vanish(?:es)?|be hidden|is hidden)`),
		r(WaitFor, `wait for "…"`, `wait\s+(?:for|until)\s+(?:the\s+)?(?:text\s+)?(?P<text>.+?)(?:\s+(?:to\s+)?(?:appears?|be visible|is visible|shows?(?: up)?|be shown))?`),

		r(OnTab, `open a new tab`, `open\s+(?:a\s+)?new\s+tab(?:\s+(?:with|at|on)?\s*(?P<u>\S+))?`, func(s *Step) { s.Tab = &Tab{New: true, URL: s.Value}; s.Value = "" }),
		r(OnTab, `switch to tab 2`, `(?:switch|go)\s+to\s+(?:the\s+)?(?:tab\s+(?P<tab>\d+))`),
		r(OnTab, `switch to the second tab`, `(?:switch|go)\s+to\s+(?:the\s+)?(?P<tab>first|second|third|fourth|fifth|sixth)\s+tab`),
		r(OnTab, `switch to the new tab`, `(?:switch|go)\s+to\s+(?:the\s+)?(?:new|newest|last|latest)\s+(?:tab|window)`, func(s *Step) { s.Tab = &Tab{Select: -1} }),
		r(OnTab, `switch to tab "…"`, `(?:switch|go)\s+to\s+(?:the\s+)?(?:tab\s+)?(?P<title>QUOTED)(?:\s+tab)?`),
		r(OnTab, `close the tab`, `close\s+(?:the\s+|this\s+)?(?:current\s+)?tab`, func(s *Step) { s.Tab = &Tab{Close: true} }),
		r(Navigate, `open https://… or /path`, `(?:open|go to|navigate to|visit|browse to)\s+(?:the\s+)?(?:page\s+|url\s+|address\s+|site\s+)?(?P<u>\S+?)(?:\s+page)?`),
		r(Back, `go back`, `(?:go\s+|navigate\s+)?back`),
		r(Reload, `reload the page`, `(?:reload|refresh)(?:\s+the)?(?:\s+page)?`),

		r(OnDialog, `accept the dialog`, `(?:accept|confirm)\s+(?:the\s+)?(?:browser\s+|confirm(?:ation)?\s+|alert\s+)?(?:dialog|alert|confirm|prompt|popup)(?:\s+with\s+(?P<v>.+))?`, accept(true)),
		r(OnDialog, `dismiss the dialog`, `(?:dismiss|reject)\s+(?:the\s+)?(?:browser\s+|confirm(?:ation)?\s+|alert\s+)?(?:dialog|alert|confirm|prompt|popup)|cancel\s+(?:the\s+)?browser\s+(?:dialog|alert|confirm|prompt|popup)`, accept(false)),
		r(OnDialog, `accept the dialog with "…"`, `(?:type|enter)\s+(?P<v>MARK)\s+(?:in|into)\s+(?:the\s+)?(?:browser\s+)?prompt(?:\s+and\s+(?:accept|confirm)(?:\s+it)?)?`, accept(true)),
		r(Press, `press Enter`, `(?:press|hit)\s+(?:the\s+)?(?P<k>KEYS)(?:\s+key)?`),
		r(Press, `press Enter in …`, `(?:press|hit)\s+(?:the\s+)?(?P<k>KEYS)(?:\s+key)?\s+(?:in|on)\s+(?P<t>.+)`),
		r(Upload, `upload "file" to …`, `(?:upload|attach)\s+(?:the\s+)?(?:file\s+)?(?P<v>MARK)\s+(?:to|into|in|with|using|via)\s+(?P<t>.+)`),
		r(Upload, `upload "file"`, `(?:upload|attach)\s+(?:the\s+)?(?:file\s+)?(?P<v>MARK)`),

		r(Click, `click …`, `in\s+(?P<w>.+?),?\s+(?:click(?:\s+on)?|tap(?:\s+on)?)\s+(?P<t>.+)`),
		r(Check, `check …`, `in\s+(?P<w>.+?),?\s+(?:check|tick)\s+(?P<t>.+)`),
		r(Uncheck, `uncheck …`, `(?:uncheck|untick|turn\s+off|switch\s+off)\s+(?P<t>.+)`),
		r(Check, `check …`, `(?:check|tick|turn\s+on|switch\s+on)\s+(?P<t>.+)`),
		r(Clear, `clear …`, `clear\s+(?:out\s+)?(?P<t>.+)`),
		r(Fill, `type "…" into …`, `(?:type|enter|input|write|fill(?:\s+in|\s+out)?)\s+(?P<v>MARK+)\s+(?:into|in|to|for|as)\s+(?P<t>.+)`),
		r(Fill, `fill … with "…"`, `fill(?:\s+in|\s+out)?\s+(?P<t>.+?)\s+(?:with|as)\s+(?P<v>.+)`),
		r(Fill, `type "…" into …`, `(?:type|enter|input|write)\s+(?P<v>\S+)\s+(?:into|in)\s+(?P<t>.+)`),
		r(Fill, `type "…" into …`, `(?:type|enter|input|write)\s+(?P<v>[^\x{f000}-\x{f0ff}]+?)\s+into\s+(?P<t>.+)`),
		r(Fill, `enter … "…"`, `(?:type|enter|input)\s+(?:the\s+|your\s+)?(?P<t>[^:\x{f000}-\x{f0ff}]+?)\s*:?\s*(?P<v>MARK)`),
		r(Fill, `enter … "…"`, `(?:type|enter|input)\s+(?:the\s+|your\s+)?(?P<t>[^:\x{f000}-\x{f0ff}]+?):\s*(?P<v>.+)`),
		r(Fill, `set … to "…"`, `(?:set|change|update)\s+(?P<t>.+?)\s+to\s+(?P<v>.+)`),
		r(Select, `select "…" in …`, `(?:select|choose|pick)\s+(?P<vs>SEVERAL)\s+(?:in|from|for|on)\s+(?P<t>.+)`),
		r(Select, `select "…" in …`, `(?:select|choose|pick)\s+(?:the\s+)?(?:option\s+)?(?P<v>MARK)\s+(?:in|from|for|on)\s+(?P<t>.+)`),
		r(Select, `select … from …`, `(?:select|choose|pick)\s+(?P<v>.+?)\s+from\s+(?P<t>.+)`),
		r(Select, `select "…" in …`, `(?:select|choose|pick)\s+(?P<v>MARK)\s+as\s+(?P<t>.+)`),
		r(Drag, `drag … to …`, `drag\s+(?P<t>.+?)\s+(?:to|onto|into)\s+(?P<t2>.+)`),
		r(Hover, `hover over …`, `(?:hover(?:\s+the\s+mouse)?(?:\s+over|\s+on)?|move\s+(?:the\s+)?mouse\s+(?:to|over)|mouse\s+over)\s+(?P<t>.+)`),
		r(Scroll, `scroll to …`, `scroll\s+to\s+(?:the\s+)?(?:bottom|end)(?:\s+of\s+(?:the\s+)?page)?`, to("bottom")),
		r(Scroll, `scroll to …`, `scroll\s+to\s+(?:the\s+)?top(?:\s+of\s+(?:the\s+)?page)?`, to("top")),
		r(Scroll, `scroll down`, `scroll\s+down(?:\s+the\s+page)?`, to("down")),
		r(Scroll, `scroll up`, `scroll\s+up(?:\s+the\s+page)?`, to("up")),
		r(Scroll, `scroll to …`, `scroll\s+(?:down\s+|up\s+)?to\s+(?P<t>.+)`),
		r(Screenshot, `take a screenshot`, `(?:take\s+(?:a\s+)?)?screenshot(?:\s+(?:as|named|called))?\s*(?P<v>MARK|)`),
		r(DblClick, `double click …`, `double[- ]?click(?:\s+on)?\s+(?P<t>.+)`),
		r(RightClick, `right click …`, `right[- ]?click(?:\s+on)?\s+(?P<t>.+)`),
		r(Click, `click …`, `(?:click(?:\s+on)?|tap(?:\s+on)?|press|select|choose|pick)\s+(?P<t>.+)`),
	}
}
