// Package script is a stub.
package script

import (
	"context"
	"encoding/json"
	"time"
)

type Runner struct{}

type Job struct {
	Who     string
	Code    string
	Input   json.RawMessage
	Globals map[string]string
	Seed    string
	Now     time.Time
}

type Pass struct{}

type Turn struct {
	Calls  []Call
	Log    string
	Done   bool
	Result json.RawMessage
	Err    *Thrown
}

type Call struct {
	Seq          int
	Do           string
	Server, Tool string
	Args         json.RawMessage
	Raw          bool
}

type Answer struct {
	Seq   int
	Value json.RawMessage
	Err   *Thrown
	Now   time.Time
}

type Thrown struct {
	Name, Message, Code, Hint, Stack string
	Line                             int
	Content                          json.RawMessage
}

func (r *Runner) Start(ctx context.Context, j Job) (*Pass, Turn, error)  { return nil, Turn{}, nil }
func (p *Pass) Answer(ctx context.Context, a Answer) (Turn, error) { return Turn{}, nil }
func (p *Pass) Close()                                             {}
