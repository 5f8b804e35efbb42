package upstream

import (
	"strings"
	"testing"
)

func TestTheLineThatSaysWhatWentWrong(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"nothing was said", "", ""},
		{"the last line, where none begins as an error does", "starting\nno such folder\n", "no such folder"},
		{"Node's error, not the members behind it", "node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\n" +
			"Error: Cannot find module '/x/nope.js'\n    at Module._resolveFilename (node:internal:15)\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v22.1.0\n",
			"Error: Cannot find module '/x/nope.js'"},
		{"an error with its code", "TypeError [ERR_X]: bad\n    at a\n", "TypeError [ERR_X]: bad"},
		{"Python's, the last of several", "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'a'\nmodule.ModuleNotFoundError: No module named 'b'\n",
			"module.ModuleNotFoundError: No module named 'b'"},
		{"Go's panic, not its frames", "panic: no key\n\ngoroutine 1 [running]:\nmain.main()\n\t/x/main.go:3 +0x1d\nexit status 2\n", "panic: no key"},
		{"npm's, not its advice", "npm error code E404\nnpm error 404 Not Found - GET https://example.com/x\nnpm error 404\nnpm error 404  'x@*' could not be found\n" +
			"npm error 404 Note that you can also install from a\nnpm error A complete log of this run can be found in: /x/y.log\n",
			"npm error 404  'x@*' could not be found"},
		{"an error long ago is another matter", "Error: retried\n" + strings.Repeat("working\n", nearEnd) + "bye\n", "bye"},
		{"a word is no error", "the error log is empty\nerrors: none of them\nbye\n", "bye"},
	} {
		tl := &tail{redact: func(s string) string { return s }}
		tl.copy(strings.NewReader(tc.text))
		if got := tl.last(); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
