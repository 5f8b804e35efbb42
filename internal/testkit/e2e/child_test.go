package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// child is what the test binary does when it is run as a server.
func child(kind string) {
	switch kind {
	case "silent": // starts, and never says a word
		io.Copy(io.Discard, os.Stdin)
	case "ask":
		askAsChild()
	case "counting":
		countAsChild()
	case "slow", "dying", "garbling":
		serveBadly(kind)
	case "browser":
		if err := browse(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "conformance client":
		if err := conformanceClient(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "enterprise client":
		if err := enterpriseClient(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "conformance sign-in":
		if err := signInClient(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "gateway":
		if err := gatewayChild(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		serveRaw(kind, os.Stdin, os.Stdout)
	}
}

// The definition, arguments and result that carry everything a decoder likes to change.
const (
	oddTool = `{"zeta":[1.0,1e2,-0],"name":"odd","description":"\u00e9 é \/ <b>","inputSchema":{"type":"object","x-later":{"b":1,"a":2},` +
		`"properties":{"z":{"type":"integer","maximum":9007199254740993},"a":{"const":1.0}}},"execution":{"taskSupport":"optional",` +
		`"extra":18446744073709551615},` +
		`"annotations":{"unheard":null},"_meta":{"k": [ ]},"alpha":{}}`
	taskTool = `{"name":"tasky","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}`
	growTool = `{"name":"grow","inputSchema":{"type":"object"}}`

	oddArguments = `{"z":9007199254740993,"a":1.0,"list":[1.50,  1e2,-0.0],"text":"\u00e9é\/\ud83d\ude00","none":null,"B":1,"b":2}`
	oddResult    = `{"zeta":1,"content":[{"type":"hologram","watts":1.0,"data":{"b":1,"a":18446744073709551615}},{"text":"\u00e9 ` +
		`é","type":"text","later":{}}],` +
		`"structuredContent":null,"isError":false,"got":%s,"_meta":{"z":1,"a":1.0}}`
)

// answer is what the raw server answers to one message, and what it says on its own
// account; "" for nothing. Grown tells which tools have been added.
func answer(kind string, message []byte, grown *bool) (reply, notice string) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	if err := json.Unmarshal(message, &m); err != nil || m.ID == nil {
		return "", ""
	}
	result := "{}"
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"raw","version":"1"}}`
	case "tools/list":
		tools := []string{oddTool, taskTool}
		if kind == "growing" {
			tools = []string{growTool}
		}
		if *grown {
			tools = append(tools, `{"name":"grown","inputSchema":{"type":"object"}}`)
		}
		result = `{"tools":[` + strings.Join(tools, ",") + `]}`
	case "tools/call":
		result = fmt.Sprintf(oddResult, m.Params)
		if kind == "growing" {
			result = `{"content":[]}`
			*grown = true
			notice = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
		}
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result), notice
}

// serveRaw speaks MCP on pipes, in bytes written by hand.
func serveRaw(kind string, in io.Reader, out io.Writer) {
	grown := false
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		reply, notice := answer(kind, lines.Bytes(), &grown)
		for _, message := range []string{notice, reply} {
			if message != "" {
				fmt.Fprintln(out, message)
			}
		}
	}
}
