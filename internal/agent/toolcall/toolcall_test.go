package toolcall

import (
	"fmt"
	"strings"
	"testing"
)

// fixtures are texts of models, with what must come out: the shown text, then each call.
var fixtures = []struct {
	name, text string
	cutOff     bool
	want       string
}{
	{name: "text alone stays", text: "a < b, `c`, 你好 ```go\nx\n``` <tool", want: "a < b, `c`, 你好 ```go\nx\n``` <tool"},
	{name: "one call between texts", text: `Let me look. <tool_call>{"id":"call_001","tool_name":"read_data_from_excel","arguments":{"filepath":"test.xlsx","sheet_name":"Sheet1"}}</tool_call> Done.`,
		want: `Let me look.  Done.|call_001 read_data_from_excel {"filepath":"test.xlsx","sheet_name":"Sheet1"}`},
	{name: "several calls", text: `<tool_call>{"tool_name":"a"}</tool_call>` + "\n" + `<tool_call>{"tool_name":"b","source":"s","arguments":{}}</tool_call>`,
		want: "\n| a |  b@s {}"},
	{name: "a list of calls", text: `<tool_call>[{"tool_name":"a"},{"tool_name":"b"}]</tool_call>`, want: "| a | b "},
	{name: "a fence around", text: "Look:\n```json\n<tool_call>{\"tool_name\":\"a\"}</tool_call>\n```\nThen.", want: "Look:\n\nThen.| a "},
	{name: "a fence around two", text: "```\n<tool_call>{\"tool_name\":\"a\"}</tool_call>\n<tool_call>{\"tool_name\":\"b\"}</tool_call>\n```", want: "\n| a | b "},
	{name: "a fence inside", text: "<tool_call>\n```json\n{\"tool_name\":\"a\",\"arguments\":{\"x\":1}}\n```\n</tool_call>", want: `| a {"x":1}`},
	{name: "a fence in place of the tags", text: "So:\n```tool_call\n{\"tool_name\":\"a\"}\n```\nEnd", want: "So:\n\nEnd| a "},
	{name: "another fence is text", text: "```tool_calls\n{\"tool_name\":\"a\"}\n```", want: "```tool_calls\n{\"tool_name\":\"a\"}\n```"},
	{name: "brackets are missing", text: `<tool_call>{"tool_name":"a","arguments":{"x":{"y":[1,2}</tool_call>`, want: `| a {"x":{"y":[1,2]}}`},
	{name: "brackets behind a number are missing", text: `<tool_call>{"tool_name":"a","arguments":{"x":1</tool_call>`, want: `| a {"x":1}`},
	{name: "brackets are too many", text: `<tool_call>{"tool_name":"a","arguments":{}}}</tool_call>`, want: "| a {}"},
	{name: "the first bracket is missing", text: `<tool_call>"id":"1","tool_name":"a","arguments":{"x":1}}</tool_call>`, want: `|1 a {"x":1}`},
	{name: "the first and the last are", text: `<tool_call>"tool_name":"a","arguments":{"x":1</tool_call>`, want: `| a {"x":1}`},
	{name: "that of the opening tag is", text: "So: <tool_call{\"tool_name\":\"a\"}</tool_call> and <tool_call\n{\"tool_name\":\"b\"}</tool_call>", want: "So:  and | a | b "},
	{name: "that of the closing tag is", text: "<tool_call>{\"tool_name\":\"a\"}</tool_call\nSo <tool_call>{\"tool_name\":\"b\"}</tool_call<tool_call>{\"tool_name\":\"c\"}</tool_call>", want: "\nSo | a | b | c "},
	{name: "the stroke of the closing tag is", text: `<tool_call>{"tool_name":"a"}<tool_call> `, want: "| a "},
	{name: "another tag is text", text: "<tool_calls>{}</tool_calls> <tool_call x>", want: "<tool_calls>{}</tool_calls> <tool_call x>"},
	{name: "commas are missing", text: "<tool_call>{\"id\":\"1\" \"tool_name\":\"a\"\n\"arguments\":{\"x\":[1 2 \"z\"] \"y\":true}}</tool_call>", want: `|1 a {"x":[1,2,"z"],"y":true}`},
	{name: "commas are too many", text: `<tool_call>{"tool_name":"a",,"arguments":{"x":[1,],},}</tool_call>`, want: `| a {"x":[1]}`},
	{name: "Python's way to write", text: `<tool_call>{'tool_name': 'a', 'arguments': {'x': None, 'y': True, z: 'it\'s "so"'}}</tool_call>`, want: `| a {"x":null,"y":true,"z":"it's \"so\""}`},
	{name: "line breaks in a string", text: "<tool_call>{\"tool_name\":\"a\",\"arguments\":{\"x\":\"1\n\t2\"}}</tool_call>", want: `| a {"x":"1\u000a\u00092"}`},
	{name: "a Windows path", text: `<tool_call>{"tool_name":"a","arguments":{"x":"C:\Users\文"}}</tool_call>`, want: `| a {"x":"C:\\Users\\文"}`},
	{name: "numbers keep their digits", text: `<tool_call>{"tool_name":"a","arguments":{"x":12345678901234567890.10}}</tool_call>`, want: `| a {"x":12345678901234567890.10}`},
	{name: "the closing tag is missing at the end", text: `<tool_call>{"tool_name":"a","arguments":{"x":1}}`, want: `| a {"x":1}`},
	{name: "the closing tag is cut", text: `<tool_call>{"tool_name":"a"}</tool_ca`, want: "| a "},
	{name: "the closing tag is missing before the next", text: `<tool_call>{"tool_name":"a"}<tool_call>{"tool_name":"b"}</tool_call>`, want: "| a | b "},
	{name: "tags inside an argument are part of it", text: `<tool_call>{"tool_name":"a","arguments":{"x":"write <tool_call>{}</tool_call> here"}}</tool_call>!`, want: `!| a {"x":"write <tool_call>{}</tool_call> here"}`},
	{name: "a missing quote spoils its own call alone", text: `<tool_call>{"tool_name":"a","arguments":{"x":"1}}</tool_call> and <tool_call>{"tool_name":"b"}</tool_call>`, want: ` and |! at byte 38: the text ends inside a string| b `},
	{name: "a missing quote at the end", text: `<tool_call>{"tool_name":"a","arguments":{"x":"1}}</tool_call> and more`, want: ` and more|! at byte 38: the text ends inside a string`},
	{name: "a call that was cut off is not run", text: `<tool_call>{"tool_name":"rm","arguments":{"path":"/a"`, cutOff: true, want: "|! the text ends inside the call"},
	{name: "nor one that ends in a number", text: `<tool_call>{"tool_name":"pay","arguments":{"sum":1`, want: "|! the text ends inside the call"},
	{name: "nor one that ends in a string", text: `<tool_call>{"tool_name":"rm","arguments":{"path":"/`, want: "|! at byte 40: the text ends inside a string"},
	{name: "a whole one is, though the text was cut off", text: `<tool_call>{"tool_name":"a"}`, cutOff: true, want: "| a "},
	{name: "brackets that are missing at a natural end are put in", text: `<tool_call>{"tool_name":"a","arguments":{"x":"1"`, want: `| a {"x":"1"}`},
	{name: "no JSON", text: `<tool_call>read(a.txt)</tool_call>`, want: `|! expected a JSON object, got "read(a.txt)"`},
	{name: "nothing", text: `<tool_call> </tool_call>`, want: "|! the text is empty"},
	{name: "no name", text: `<tool_call>{"arguments":{}}</tool_call>`, want: "|! the call has no tool_name"},
	{name: "a name that is none", text: `<tool_call>{"tool_name":1}</tool_call>`, want: "|! expected an object with tool_name and arguments"},
	{name: "text in the call", text: `<tool_call>{"tool_name":"a"} please</tool_call>`, want: `|! at byte 18: after the object comes "please"`},
	{name: "the tag is only spoken of", text: "Write `<tool_call>` and then JSON.", want: "Write `<tool_call>` and then JSON."},
	{name: "a call in backquotes", text: "`<tool_call>{\"tool_name\":\"a\"}</tool_call>`", want: "``| a "},
	{name: "other words for the members", text: `<tool_call>{"name":"a","parameters":{"x":1}}</tool_call><tool_call>{"type":"function","function":{"name":"b","arguments":"{}"}}</tool_call>`, want: `| a {"x":1}| b "{}"`},
	{name: "and yet others", text: `<tool_call>{"tool":"a","args":{"x":1}}</tool_call><tool_call>{"function":"b","input":{"y":2}}</tool_call><tool_call>{"function":{"name":"c","params":{}}}</tool_call>`, want: `| a {"x":1}| b {"y":2}| c {}`},
	{name: "comments", text: "<tool_call>{\"tool_name\":\"a\", // the tool\n\"arguments\":{\"x\":1 /* one */}}</tool_call>", want: `| a {"x":1}`},
	{name: "what a comment may have taken is no guess", text: `<tool_call>{"tool_name":"a","arguments":{"x":1 # one, "y":2}}</tool_call>`, want: "|! at byte 50: brackets or commas are missing beside a comment"},
	{name: "an id that is a number", text: `<tool_call>{"id":7,"tool_name":"a"}</tool_call>`, want: "|7 a "},
	{name: "Chinese everywhere", text: `好的，<tool_call>{"id":"一","tool_name":"读取","arguments":{"文件":"测试.xlsx"}}</tool_call>。`, want: `好的，。|一 读取 {"文件":"测试.xlsx"}`},
	{name: "in tags", text: "So:\n<tool_call>\n<function=write>\n<parameter=path>\na.txt\n</parameter>\n<parameter=text>\nit's \"1\n\n</parameter>\n</function>\n</tool_call>", want: "So:\n" + `| write {"path":"a.txt","text":"it's \"1\n"}`},
	{name: "in tags, two in one", text: "<tool_call><function=a></function>\n<function=\"b\"><parameter=x>1</parameter></tool_call>!", want: `!| a {}| b {"x":"1"}`},
	{name: "in tags, with nothing around them", text: "Let me.\n\n<function=a>\n<parameter=x>\n*.md\n</parameter>\n</function>", want: "Let me.\n\n" + `| a {"x":"*.md"}`},
	{name: "in tags, with only the closing tag around them", text: "<function=a>\n</function>\n</tool_call>\n\nDone. <function=b> </function> Well. </tool_call>", want: "\n\nDone.  Well. </tool_call>| a {}| b {}"},
	{name: "in tags, several with nothing around them", text: "<function=a></function>\n<function=b></function>\n</tool_call>.", want: "\n.| a {}| b {}"},
	{name: "in tags with attributes", text: `<invoke name="a"><parameter name="x" string="true">1 < 2 > 0</parameter></invoke> and <invoke name='b'></invoke>`, want: ` and | a {"x":"1 < 2 > 0"}| b {}`},
	{name: "in tags under another tag", text: "<function_calls>\n<invoke name=\"a\">\n<parameter name=\"x\">1\n</parameter>\n</invoke>\n<invoke name=\"b\"></invoke>\n</function_calls>!<minimax:tool_call><invoke name=\"c\"></invoke></minimax:tool_call>", want: `!| a {"x":"1\n"}| b {}| c {}`},
	{name: "in tags, name and values side by side", text: "<tool_call>天气\n<arg_key>城市</arg_key>\n<arg_value>北京</arg_value>\n<arg_key>n</arg_key>\n<arg_value>[1, 2]</arg_value>\n</tool_call>", want: `| 天气 {"城市":"北京","n":"[1, 2]"}`},
	{name: "in tags around JSON", text: `<function=a>{"x": [1, 2}</function><tool_call><function=b>{}</function></tool_call>`, want: `| a {"x":[1,2]}| b {}`},
	{name: "in tags in a fence", text: "```xml\n<function=a></function>\n```\nso <tool_call>\n```\n<function=b></function>\n```\n</tool_call>", want: "\nso | a {}| b {}"},
	{name: "a value in tags may have such tags in pairs", text: "<function=a><parameter=x>\n<tool_call>\n<function=b>\n<parameter=y>1</parameter>\n</function>\n</tool_call>\n</parameter></function>.", want: `.| a {"x":"<tool_call>\n<function=b>\n<parameter=y>1</parameter>\n</function>\n</tool_call>"}`},
	{name: "tags in a value that have no pair are no guess", text: "<function=a><parameter=x>write <parameter=y> so</parameter></function> Ok", want: ` Ok|! the parameter "x" has no end`},
	{name: "a value in tags without an end is no guess", text: "<tool_call><function=a><parameter=x>\n1\n<parameter=y>\n2\n</parameter></function></tool_call> Ok <tool_call>{\"tool_name\":\"b\"}</tool_call>", want: ` Ok |! the parameter "x" has no end| b `},
	{name: "nor one that was cut off", text: "<function=a><parameter=x>1", cutOff: true, want: `|! the parameter "x" has no end`},
	{name: "nor a call in tags that was", text: "<tool_call><function=a><parameter=x>1</parameter>\n</func", cutOff: true, want: "|! expected a parameter, got \"</func\""},
	{name: "its end may be missing at a natural end", text: "<tool_call><function=a><parameter=x>1</parameter>", want: `| a {"x":"1"}`},
	{name: "in tags, a name twice", text: "<function=a><parameter=x>1</parameter><parameter=x>2</parameter></function>", want: `|! the parameter "x" is given twice`},
	{name: "in tags, no name", text: "<tool_call><function=></function></tool_call><function=a><parameter=>1</parameter></function>", want: `|! expected a call, got "</function>"|! a parameter has no name`},
	{name: "in tags, text between", text: "<function=a><parameter=x>1</parameter> and so</function>", want: `|! expected a parameter, got "and so</function>"`},
	{name: "in tags, a name without a value", text: "<tool_call>a<arg_key>x</arg_key></tool_call>", want: `|! the parameter "x" has no value`},
	{name: "tags that are only spoken of", text: "Write <function=NAME> and <invoke name=\"x\"> or `<function=a></function>`, <function> (), <functions>, <function_calls>, <invoke>.", want: "Write <function=NAME> and <invoke name=\"x\"> or `<function=a></function>`, <function> (), <functions>, <function_calls>, <invoke>."},
	{name: "and in a block of code of their own", text: "```xml\n<a>\n<invoke name=\"x\"></invoke>\n</a>\n```", want: "```xml\n<a>\n<invoke name=\"x\"></invoke>\n</a>\n```"},
	{name: "a result that is made up is not said", text: `So: <tool_call>{"tool_name":"a"}</tool_call> <tool_result>{"result":"5"}</tool_result> It is 5.`, want: `So:  | a `},
	{name: "and what follows from it is not called", text: "<tool_call>{\"tool_name\":\"a\"}</tool_call>\n<tool_response>\n5\n</tool_response><tool_call>{\"tool_name\":\"b\"}</tool_call>", want: "\n| a |! it stands behind a result that you made up"},
	{name: "a result that is spoken of is text", text: "A <tool_result> follows. <tool_call>{\"tool_name\":\"a\"}</tool_call> See `<tool_result>`, <tool_results>.", want: "A <tool_result> follows.  See `<tool_result>`, <tool_results>.| a "},
	{name: "a result in an argument is part of it", text: `<tool_call>{"tool_name":"a"}</tool_call><tool_call>{"tool_name":"b","arguments":{"x":"<tool_result>"}}</tool_call>.`, want: `.| a | b {"x":"<tool_result>"}`},
	{name: "thoughts are no text", text: "<think>\nhm < 1 </thin </think>\n\nYes.", want: "Yes.~\nhm < 1 </thin "},
	{name: "a call in thoughts is none", text: `<think>Maybe <tool_call>{"tool_name":"rm"}</tool_call>? No.</think><tool_call>{"tool_name":"a"}</tool_call>`, want: `~Maybe <tool_call>{"tool_name":"rm"}</tool_call>? No.| a `},
	{name: "an open tag in thoughts opens nothing", text: `<think>I could use <tool_call> or "so</think>Ok <tool_call>{"tool_name":"a"}</tool_call>`, want: `Ok ~I could use <tool_call> or "so| a `},
	{name: "thoughts that never end are thoughts", text: `<think>Let me <tool_call>{"tool_name":"a"}</tool_call>`, want: `~Let me <tool_call>{"tool_name":"a"}</tool_call>`},
	{name: "thoughts after a text", text: `Well. <think>or <tool_call>{"tool_name":"rm"}</tool_call></think> Yes.`, want: `Well.  Yes.~or <tool_call>{"tool_name":"rm"}</tool_call>`},
	{name: "thoughts after a call", text: `<tool_call>{"tool_name":"a"}</tool_call><think>hm</think>Yes.`, want: `Yes.~hm| a `},
	{name: "a tag in a text that ends nowhere is text", text: `Models write <think> first. <tool_call>{"tool_name":"a"}</tool_call>`, want: "Models write <think> first. | a "},
	{name: "a tag of thoughts in backquotes is spoken of", text: "Write `<think>` and `</think>`.", want: "Write `<think>` and `</think>`."},
	{name: "and in a block of code", text: "So:\n```xml\n<think>\nx\n</think>\n```\n", want: "So:\n```xml\n<think>\nx\n</think>\n```\n"},
	{name: "and in an argument", text: `<tool_call>{"tool_name":"a","arguments":{"x":"<think>1</think>"}}</tool_call>`, want: `| a {"x":"<think>1</think>"}`},
	{name: "only the end of the thoughts is marked", text: "Maybe <tool_call>{\"tool_name\":\"rm\"}</tool_call>?\n</think>\n\nNo.", want: "No.~Maybe ?\n<tool_call>{\"tool_name\":\"rm\"}</tool_call>"},
	{name: "a result is made up in the thoughts alone", text: "Maybe <tool_call>{\"tool_name\":\"rm\"}</tool_call><tool_result>1</tool_result> so.\n</think>\n\nNo.", want: "No.~Maybe <tool_call>{\"tool_name\":\"rm\"}</tool_call>"},
	{name: "an end too many", text: "<think>a</think>b\n</think>\nc", want: "b\n\nc~a"},
	{name: "an end in a sentence is text", text: "It ends with </think> mostly.", want: "It ends with </think> mostly."},
	{name: "thoughts under another name", text: "<thinking>a</think></thinking>b", want: "b~a</think>"},
	{name: "no thoughts at all", text: "<think></think>\n\n你好", want: "你好"},
}

// parse reads pieces, and writes down what came out: the text, the thoughts behind "~", and
// each call behind "|".
func parse(cutOff bool, pieces ...string) string { return new(Reader).parse(cutOff, pieces...) }

func (r *Reader) parse(cutOff bool, pieces ...string) string {
	var text, thoughts string
	take := func(s Said) {
		if s.Unsaid {
			text, thoughts = "", thoughts+text
		}
		if s.Unthought {
			thoughts = ""
		}
		text, thoughts = text+s.Text, thoughts+s.Thought
	}
	for _, p := range pieces {
		take(r.Write(p))
	}
	take(r.Close(cutOff))
	var out strings.Builder
	out.WriteString(text)
	if thoughts != "" {
		out.WriteString("~" + thoughts)
	}
	for _, c := range r.Calls() {
		switch {
		case c.Err != nil:
			fmt.Fprintf(&out, "|! %v", c.Err)
		case c.Source != "":
			fmt.Fprintf(&out, "| %s %s@%s %s", c.ID, c.Tool, c.Source, c.Args)
		default:
			fmt.Fprintf(&out, "|%s %s %s", c.ID, c.Tool, c.Args)
		}
	}
	return out.String()
}

func TestCallsAreFoundInText(t *testing.T) {
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			if got := parse(f.cutOff, f.text); got != f.want {
				t.Errorf("got  %q\nwant %q", got, f.want)
			}
		})
	}
}

func TestEverySplitGivesTheSame(t *testing.T) {
	for _, f := range fixtures {
		want := parse(f.cutOff, f.text)
		for i := range len(f.text) + 1 {
			for j := i; j <= len(f.text); j += 1 + 8*min(1, j-i) { // every split in two, and many in three
				if got := parse(f.cutOff, f.text[:i], f.text[i:j], f.text[j:]); got != want {
					t.Fatalf("%s, split at %d and %d: got %q, want %q", f.name, i, j, got, want)
				}
			}
		}
		if got := parse(f.cutOff, strings.Split(f.text, "")...); got != want {
			t.Errorf("%s, character by character: %q", f.name, got)
		}
	}
}

func TestTextIsShownAsSoonAsItCanBe(t *testing.T) {
	var r Reader
	for _, step := range [][2]string{{"Hello", "Hello"}, {" <to", " "}, {"ols>", "<tools>"}, {"`", ""}, {"x", "`x"}, {`<tool_call>{"tool_name":"a"}</tool_call> b`, " b"}} {
		if got := r.Write(step[0]); got != (Said{Text: step[1]}) {
			t.Errorf("after %q: %+v, want %q", step[0], got, step[1])
		}
	}
	if calls := r.Calls(); len(calls) != 1 || calls[0].Tool != "a" || len(r.Calls()) != 0 {
		t.Errorf("a whole call waits for nothing: %+v", calls)
	}
}

func TestThoughtsAreLetOutAsTheyCome(t *testing.T) {
	var r Reader
	for _, step := range []struct {
		piece string
		want  Said
	}{
		{"<thi", Said{}}, {"nk>One", Said{Thought: "One"}}, {" <", Said{Thought: " "}}, {"b> two</", Said{Thought: "<b> two"}}, {"think>\n", Said{}}, {"\nYes", Said{Text: "Yes"}},
	} {
		if got := r.Write(step.piece); got != step.want {
			t.Errorf("after %q: %+v, want %+v", step.piece, got, step.want)
		}
	}
}

func TestCallsThatComeAnotherWayAreTextInTheText(t *testing.T) {
	r := Reader{Uncalled: true}
	const text = "<tool_call>{}</tool_call> ```tool_call\n```"
	if got := r.Write("<think>hm</think>" + text); got != (Said{Text: text, Thought: "hm"}) || len(r.Calls()) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestAModelThatMarksOnlyTheEndOfItsThoughtsIsHeardFromTheBeginning(t *testing.T) {
	const call = `<tool_call>{"tool_name":"a"}</tool_call>`
	for text, want := range map[string]string{
		"Hm. " + call + " Or so</think>\n\nYes. " + call: "Yes. ~Hm. " + call + " Or so| a ",
		"<think>Hm.</think>Yes.":                         "Yes.~Hm.",
		"Yes. " + call + " Done.":                        "Yes.  Done.| a ",
		"Yes, a < b. <think>Hm.</think> No.":             "Yes, a < b.  No.~Hm.",
		call:                                             "| a ",
		"\n</think>\n\n":                                 "~\n",
		"":                                               "",
	} {
		for i := range len(text) + 1 {
			if got := (&Reader{Thinking: true}).parse(false, text[:i], text[i:]); got != want {
				t.Errorf("%q, split at %d: got %q, want %q", text, i, got, want)
			}
		}
	}
	if got := (&Reader{Thinking: true}).parse(true, "Hm. "+call); got != "~Hm. "+call {
		t.Errorf("cut off in its thoughts: %q", got)
	}
	r := Reader{Thinking: true}
	for _, step := range []struct {
		piece string
		want  Said
	}{{"Hm", Said{Thought: "Hm"}}, {", <", Said{Thought: ", "}}, {"/think>Yes", Said{Text: "Yes"}}} {
		if got := r.Write(step.piece); got != step.want {
			t.Errorf("after %q: %+v, want %+v", step.piece, got, step.want)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, x := range fixtures {
		f.Add(x.text, uint16(len(x.text)/2), x.cutOff)
	}
	f.Fuzz(func(t *testing.T, text string, at uint16, cutOff bool) {
		want := parse(cutOff, text)
		split := min(int(at), len(text))
		if got := parse(cutOff, text[:split], text[split:]); got != want {
			t.Errorf("split at %d: got %q, want %q", split, got, want)
		}
		thinking := (&Reader{Thinking: true}).parse(cutOff, text)
		if got := (&Reader{Thinking: true}).parse(cutOff, text[:split], text[split:]); got != thinking {
			t.Errorf("thinking, split at %d: got %q, want %q", split, got, thinking)
		}
		if !strings.Contains(text, "</think>") && !cutOff && thinking != want {
			t.Errorf("without a thought: got %q, want %q", thinking, want)
		}
		if !strings.Contains(text, "<tool_call") && !strings.Contains(text, "```tool_call\n") && !strings.Contains(text, "think") &&
			!strings.Contains(text, "<function") && !strings.Contains(text, "<invoke") && want != text {
			t.Errorf("text without a call was changed: %q", want)
		}
	})
}
