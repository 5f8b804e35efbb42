package upstream

// OddTool is a tool that has things in its definition, its result or its error that gateways are known to lose or change.
type OddTool struct {
	Name       string
	Definition string // its members beside the name
	Arguments  string // to call it with
	Meta       string // members of the call's _meta
	Result     string // "" for the params that reached the server, as text
	Error      string // in place of a result
	Checks     []Check
}

// Check is one thing that must come through.
type Check struct {
	Name  string
	In    Part
	Path  []string // from the part's top
	Want  string   // the JSON there, as the server wrote it
	Order bool     // only the order of the members counts
}

// Part is a part of a tool's traffic.
type Part string

// The parts.
const (
	Definition Part = "definition"
	Arguments  Part = "arguments" // a call's params, as the server got them
	Result     Part = "result"
	Error      Part = "error"
)

const plain = `"inputSchema":{"type":"object","properties":{}}`

// OddTools are all of them.
var OddTools = []OddTool{
	{
		Name: "odd_definition",
		Definition: `"title":"An odd one","description":"It has everything.","inputSchema":{"type":"object","properties":{` +
			`"zulu":{"type":"integer","maximum":9007199254740993},"alpha":{"type":"number","multipleOf":1.0},` +
			`"mike":{"type":"string","x-unit":"m"}},"required":["zulu"]},` +
			`"annotations":{"readOnlyHint":true,"x-cost":3},"_meta":{"vendor.example/tier":{"level":1}},"x-vendor":{"tier":"gold"}`,
		Result: `{"content":[]}`,
		Checks: []Check{
			{Name: "title", In: Definition, Path: []string{"title"}, Want: `"An odd one"`},
			{Name: "order of properties", In: Definition, Path: []string{"inputSchema", "properties"},
				Want: `{"zulu":0,"alpha":0,"mike":0}`, Order: true},
			{Name: "2^53+1 in a schema", In: Definition, Path: []string{"inputSchema", "properties", "zulu", "maximum"}, Want: `9007199254740993`},
			{Name: "1.0 in a schema", In: Definition, Path: []string{"inputSchema", "properties", "alpha", "multipleOf"}, Want: `1.0`},
			{Name: "unknown keyword in a schema", In: Definition, Path: []string{"inputSchema", "properties", "mike", "x-unit"}, Want: `"m"`},
			{Name: "annotations", In: Definition, Path: []string{"annotations", "readOnlyHint"}, Want: `true`},
			{Name: "unknown annotation", In: Definition, Path: []string{"annotations", "x-cost"}, Want: `3`},
			{Name: "_meta", In: Definition, Path: []string{"_meta", "vendor.example/tier"}, Want: `{"level":1}`},
			{Name: "unknown field", In: Definition, Path: []string{"x-vendor"}, Want: `{"tier":"gold"}`},
		},
	},
	{
		Name: "odd_arguments",
		Definition: `"description":"It tells what reached it.","inputSchema":{"type":"object","properties":{` +
			`"zulu":{"type":"integer"},"alpha":{"type":"number"},"mike":{"type":"object"}}}`,
		Arguments: `{"zulu":9007199254740993,"alpha":1.0,"mike":{"b":null,"a":1}}`,
		Meta:      `"vendor.example/trace":"t1"`,
		Checks: []Check{
			{Name: "order", In: Arguments, Path: []string{"arguments"}, Want: `{"zulu":0,"alpha":0,"mike":0}`, Order: true},
			{Name: "2^53+1", In: Arguments, Path: []string{"arguments", "zulu"}, Want: `9007199254740993`},
			{Name: "1.0", In: Arguments, Path: []string{"arguments", "alpha"}, Want: `1.0`},
			{Name: "null", In: Arguments, Path: []string{"arguments", "mike", "b"}, Want: `null`},
			{Name: "_meta of a call", In: Arguments, Path: []string{"_meta", "vendor.example/trace"}, Want: `"t1"`},
		},
	},
	{
		Name:       "odd_result",
		Definition: `"description":"Its result has everything.",` + plain,
		Result: `{"content":[{"type":"text","text":"ok","annotations":{"audience":["user"],"priority":0.5},` +
			`"_meta":{"vendor.example/c":1},"x-vendor":"kept"}],` +
			`"structuredContent":{"zulu":9007199254740993,"alpha":1.0,"mike":null},"_meta":{"vendor.example/r":"r1"},"x-vendor":{"tier":"gold"}}`,
		Checks: []Check{
			{Name: "structuredContent: order", In: Result, Path: []string{"structuredContent"}, Want: `{"zulu":0,"alpha":0,"mike":0}`, Order: true},
			{Name: "structuredContent: 2^53+1", In: Result, Path: []string{"structuredContent", "zulu"}, Want: `9007199254740993`},
			{Name: "structuredContent: 1.0", In: Result, Path: []string{"structuredContent", "alpha"}, Want: `1.0`},
			{Name: "structuredContent: null", In: Result, Path: []string{"structuredContent", "mike"}, Want: `null`},
			{Name: "_meta", In: Result, Path: []string{"_meta", "vendor.example/r"}, Want: `"r1"`},
			{Name: "unknown field", In: Result, Path: []string{"x-vendor"}, Want: `{"tier":"gold"}`},
			{Name: "annotations of content", In: Result, Path: []string{"content", "0", "annotations"},
				Want: `{"audience":["user"],"priority":0.5}`},
			{Name: "_meta of content", In: Result, Path: []string{"content", "0", "_meta"}, Want: `{"vendor.example/c":1}`},
			{Name: "unknown field of content", In: Result, Path: []string{"content", "0", "x-vendor"}, Want: `"kept"`},
		},
	},
	{
		Name:       "odd_content",
		Definition: `"description":"Its content is of a type of tomorrow.",` + plain,
		Result:     `{"content":[{"type":"vendor_chart","points":[1,2]},{"type":"text","text":"ok"}]}`,
		Checks: []Check{
			{Name: "unknown type of content", In: Result, Path: []string{"content", "0"}, Want: `{"type":"vendor_chart","points":[1,2]}`},
		},
	},
	{
		Name:       "odd_link",
		Definition: `"description":"It links to a resource.",` + plain,
		Result: `{"content":[{"type":"resource_link","uri":"file:///a.txt","name":"a.txt","mimeType":"text/plain","size":3},` +
			`{"type":"resource","resource":{"uri":"file:///a.txt","mimeType":"text/plain","text":"abc"}}]}`,
		Checks: []Check{
			{Name: "resource link", In: Result, Path: []string{"content", "0", "uri"}, Want: `"file:///a.txt"`},
			{Name: "embedded resource", In: Result, Path: []string{"content", "1", "resource", "text"}, Want: `"abc"`},
		},
	},
	{
		Name:       "odd_failure",
		Definition: `"description":"It runs, and fails.",` + plain,
		Result:     `{"content":[{"type":"text","text":"no such ship"}],"structuredContent":{"ship":"zulu"},"isError":true}`,
		Checks: []Check{
			{Name: "isError", In: Result, Path: []string{"isError"}, Want: `true`},
			{Name: "structuredContent of a failure", In: Result, Path: []string{"structuredContent", "ship"}, Want: `"zulu"`},
		},
	},
	{
		Name:       "odd_error",
		Definition: `"description":"It answers with a JSON-RPC error.",` + plain,
		Error:      `{"code":-32050,"message":"no such ship","data":{"ship":"zulu","retry":9007199254740993}}`,
		Checks: []Check{
			{Name: "code", In: Error, Path: []string{"code"}, Want: `-32050`},
			{Name: "message", In: Error, Path: []string{"message"}, Want: `"no such ship"`},
			{Name: "data", In: Error, Path: []string{"data"}, Want: `{"ship":"zulu","retry":9007199254740993}`},
		},
	},
}

func oddTools() []byte {
	tools := make([]string, len(OddTools))
	for i, t := range OddTools {
		tools[i] = `{"name":"` + t.Name + `",` + t.Definition + `}`
	}
	return toolList(tools)
}
