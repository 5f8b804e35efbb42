// Package steps reads browser tests: YAML files, Markdown plans, one-line sentences in
// Chinese and English, and commands of the form {action, selector, value}. All of them
// become the same structs, so that what a step does never depends on how it was written.
//
// It never guesses: what it cannot read is a problem with file, line, column and the nearest
// form that it can. It runs nothing; that is package run.
//
//	suite, err := steps.Load("login.yaml", os.ReadFile)
//	list, err := steps.ParseSentence(`在用户名输入框输入 "admin"，点击登录 -> 出现 "登录成功"`)
package steps

import (
	"encoding/json"
	"time"
)

// Suite is one test file: cases that share variables, setup and teardown.
type Suite struct {
	File     string
	Name     string
	Base     string // prefix of addresses that begin with /
	Serve    string // a folder beside the file that is served while the tests run, and is the base; "" for none
	Tags     []string
	Vars     map[string]string
	Dialogs  string        // what happens to a dialog nobody asked for: accept, dismiss, fail ("")
	Timeout  time.Duration // of each step; 0: the runner's
	Setup    []Step        // before every case
	Teardown []Step        // after every case, also after one that failed
	Cases    []Case
	Env      []string // the variables of the environment that it names, with those of what it includes
}

// Case is one test.
type Case struct {
	Name    string
	Tags    []string
	Line    int
	Skip    string // the reason why it is left out; "" to run it
	Retries int    // whole repetitions in a fresh session
	Data    []map[string]string
	Steps   []Step
}

// Step is one thing to do, with what must be true afterwards.
type Step struct {
	ID         string
	File       string
	Line       int
	Text       string // as it was written
	Action     Action
	Target     *Target
	To         *Target  // where something is dragged to
	Value      string   // text, option, key, address, file, variable: what the action needs
	Values     []string // several options or files
	Choose     bool     // of a click: what is meant may be an option of a closed list
	Each       []string // the elements one by one, where the target may name several
	all        bool     // it does
	Wait       *Wait
	Dialog     *Dialog
	Tab        *Tab
	Set        map[string]string
	Tool       string // of a raw call
	Arguments  json.RawMessage
	Expect     []Expectation
	Timeout    time.Duration // 0: the suite's
	Retries    int           // how often the step is tried again after it failed without acting
	Optional   bool          // a failure is noted and the case goes on
	Idempotent bool          // may be repeated when nobody knows whether it acted
	Given      string        // a command as it came; "" for other forms
	Fallback   []Step        // tried in order after a failure that is known not to have acted
}

// Action is what a step does.
type Action string

const (
	Navigate   Action = "navigate"
	Back       Action = "back"
	Reload     Action = "reload"
	Click      Action = "click"
	Expand     Action = "expand"
	Collapse   Action = "collapse"
	DblClick   Action = "dblclick"
	RightClick Action = "rightclick"
	Fill       Action = "fill"
	Type       Action = "type" // key by key, behind what stands there
	Clear      Action = "clear"
	Select     Action = "select"
	Check      Action = "check"
	Uncheck    Action = "uncheck"
	Hover      Action = "hover"
	Drag       Action = "drag"
	Press      Action = "press"
	Upload     Action = "upload"
	WaitFor    Action = "wait"
	Scroll     Action = "scroll"
	OnDialog   Action = "dialog"
	OnTab      Action = "tab"
	Screenshot Action = "screenshot"
	Expect     Action = "expect"
	SetVars    Action = "set"
	Save       Action = "save" // an element's text or value into a variable
	Eval       Action = "eval"
	Tool       Action = "tool"
)

// Target says which element is meant.
type Target struct {
	Text   string `json:"text"` // a description or a selector
	Within string `json:"within,omitempty"`
	Frame  string `json:"frame,omitempty"`
	Nth    int    `json:"nth,omitempty"`
}

// Wait is what a wait step waits for: exactly one of them.
type Wait struct {
	Time time.Duration
	Text string
	Gone string
	URL  string
}

// Dialog answers a dialog of the browser.
type Dialog struct {
	Accept bool
	Text   string // for a prompt
}

// Tab works on the browser's tabs: exactly one of them.
type Tab struct {
	New    bool
	URL    string // of a new one
	Select int    // from 1; -1 is the last
	Title  string // select by a part of the title or the address
	Close  bool
}

// Kind is what an expectation looks at.
type Kind string

const (
	Visible   Kind = "visible"
	Hidden    Kind = "hidden"
	Text      Kind = "text"
	NoText    Kind = "no-text"
	Value     Kind = "value"
	Count     Kind = "count"
	URL       Kind = "url"
	Title     Kind = "title"
	Enabled   Kind = "enabled"
	Disabled  Kind = "disabled"
	Checked   Kind = "checked"
	Unchecked Kind = "unchecked"
)

// Match is how a text is compared.
type Match string

const (
	Equals   Match = "equals"
	Contains Match = "contains"
	Matches  Match = "matches" // a regular expression
)

// Expectation is something that must become true before the step's time is over.
type Expectation struct {
	Kind   Kind
	Target *Target // nil: the page
	Value  string
	Match  Match
	Count  int
	Text   string // as it was written
	Waited bool   // Value may name an element by its kind, too: wait for the dialog to disappear
}
