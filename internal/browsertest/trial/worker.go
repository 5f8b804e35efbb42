package trial

import (
	"fmt"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
	"github.com/toolfit/toolfit/internal/gateway/call"
)

// job is one case of a suite; the rows of its data belong together.
type job struct {
	suite  int
	one    steps.Suite // with this case alone
	result *run.Result
}

// jobsOf are the cases of all suites, in their order.
func jobsOf(suites []*steps.Suite) (jobs []*job) {
	for i, s := range suites {
		for _, c := range s.Cases {
			one := *s
			one.Cases = []steps.Case{c}
			jobs = append(jobs, &job{suite: i, one: one})
		}
	}
	return jobs
}

// worker runs cases one after another in a session of its own.
type worker struct {
	session *session
	runner  *run.Runner
	done    func(run.CaseResult) // of the current case
}

func (l *Lab) worker(k *Run, o *Order, server tool.ServerID, n int) *worker {
	w := &worker{}
	w.session = &session{lab: l, server: server, as: call.Request{Principal: o.Who, Profile: o.Profile, Reader: call.Person}}
	w.session.as.Params.Session = fmt.Sprintf("%s/%d", k.ID, n+1)
	w.runner = l.runner(w.session, k.ID, o.Options, func(c run.CaseResult) { w.done(c) })
	return w
}

// runner makes what runs steps in a session.
func (l *Lab) runner(s *session, id string, opts run.Options, done func(run.CaseResult)) *run.Runner {
	opts.ID = id
	opts.Fit = s.fitter
	opts.Log = l.parts.Logger
	opts.Done = done
	return run.New(s, &opts)
}

// merged puts the cases of each suite together again.
func merged(suites []*steps.Suite, jobs []*job) []*run.Result {
	results := make([]*run.Result, len(suites))
	for _, j := range jobs {
		if results[j.suite] == nil {
			results[j.suite] = j.result
			continue
		}
		results[j.suite].Add(j.result)
	}
	return results
}
