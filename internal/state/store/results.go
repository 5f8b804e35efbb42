package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// Result is the full result of a call; the caller may have got only a part of it.
type Result struct {
	Ref     string // no two of one owner are the same
	Owner   string // who may fetch it
	Call    string // the id of the call
	Server  tool.ServerID
	Tool    tool.Name // canonical
	Profile string
	Session string
	Rule    string
	Args    json.RawMessage // byte for byte as they were sent
	Body    json.RawMessage // byte for byte as it came
	At      time.Time       // kept to the microsecond, as is the next
	Expires time.Time       // zero means never
	Size    int64           // bytes of both as they are kept; of Heads alone
	Err     error           // why Args and Body cannot be read, such as another key; nil when they can
}

// Cursor is the Before of a page that goes on after this result.
func (r *Result) Cursor() string { return cursor(r.At, r.Ref) }

// ResultFilter chooses results; a zero field does not filter.
type ResultFilter struct {
	Owner   string
	Ref     string
	Call    string
	Tool    string // canonical
	Session string
	Rule    string
	Since   time.Time // kept then or later
	Before  string    // only what comes after the result with this Cursor
	Limit   int       // 0 means 100; at most 1000
	Heads   bool      // Args and Body are not read
}

// resultKeys are the texts that results are found by, as the columns of the table.
var resultKeys = [...]string{"owner", "ref", "call", "tool", "session", "rule"}

// The positions of the owner and the ref in resultKeys.
const ownerKey, refKey = 0, 1

// resultTexts are the values of resultKeys.
type resultTexts [len(resultKeys)]string

func (f *ResultFilter) texts() resultTexts {
	return resultTexts{f.Owner, f.Ref, f.Call, f.Tool, f.Session, f.Rule}
}

func (r *Result) texts() resultTexts {
	return resultTexts{r.Owner, r.Ref, r.Call, string(r.Tool), r.Session, r.Rule}
}

// matches compares the texts: the index of a folder only has their hashes.
func (f *ResultFilter) matches(r *Result) bool {
	have := r.texts()
	for i, want := range f.texts() {
		if want != "" && want != have[i] {
			return false
		}
	}
	return true
}

// ResultLimits limit what is stored, in bytes. Zero sets no bound.
type ResultLimits struct {
	Owner int64 // of one owner
	Total int64 // of all
}

const (
	// maxResult limits the arguments and the body of a stored result.
	maxResult = 512 << 20
	// pageBytes is about how much a page of results holds, to limit memory.
	pageBytes = 64 << 20
)

// resultStorage is where results are stored.
type resultStorage interface {
	save(ctx context.Context, r *Result) error
	// list returns what matches and has not expired, the newest first.
	list(ctx context.Context, f *ResultFilter, now time.Time) ([]Result, error)
	trim(ctx context.Context, l ResultLimits, now time.Time) (deleted int64, err error)
}

// SaveResult stores the result; once it returns, a killed process loses nothing, and with
// Options.Durable neither does a power cut. A ref that the owner already has is a fault.Conflict.
func (s *Store) SaveResult(ctx context.Context, r Result) error {
	if r.Ref == "" || r.At.IsZero() {
		return fmt.Errorf("keep result of %s: it has no ref or no time", r.Tool)
	}
	if len(r.Args) > maxResult || len(r.Body) > maxResult {
		return fault.New(fault.TooLarge, "the result of %s has more than %d MB", r.Tool, maxResult>>20)
	}
	return s.explain("keep result "+r.Ref, s.results.save(ctx, &r))
}

func refTaken(ref string) error {
	return fault.New(fault.Conflict, "the ref %s is taken", ref)
}

// Result returns an owner's result. One that is unknown, expired or somebody else's is a
// fault.NotFound with the same text.
func (s *Store) Result(ctx context.Context, owner, ref string) (Result, error) {
	if owner == "" || ref == "" {
		return Result{}, noResult(ref)
	}
	return s.oneResult(ctx, ref, ResultFilter{Owner: owner, Ref: ref})
}

// FindResult returns the newest result of any owner with this ref or call id. It is for people who
// may read everything.
func (s *Store) FindResult(ctx context.Context, refOrCall string) (Result, error) {
	if refOrCall == "" {
		return Result{}, noResult(refOrCall)
	}
	r, err := s.oneResult(ctx, refOrCall, ResultFilter{Ref: refOrCall})
	if fault.Is(err, fault.NotFound) {
		return s.oneResult(ctx, refOrCall, ResultFilter{Call: refOrCall})
	}
	return r, err
}

func (s *Store) oneResult(ctx context.Context, name string, f ResultFilter) (Result, error) {
	f.Limit = 1
	found, err := s.Results(ctx, f)
	switch {
	case err != nil:
		return Result{}, err
	case len(found) == 0:
		return Result{}, noResult(name)
	}
	return found[0], found[0].Err
}

func noResult(name string) error {
	return fault.New(fault.NotFound, "there is no result %q", name).WithHint("results are kept for a while only; call the tool again")
}

// Results returns the matching results, the newest first. A page of long ones is shorter than its
// limit: the end is an empty page.
func (s *Store) Results(ctx context.Context, f ResultFilter) ([]Result, error) {
	found, err := s.results.list(ctx, &f, s.opts.Now())
	return found, s.explain("read results", err)
}

// TrimResults deletes expired results, and then the oldest ones over the limits. Beside a SQLite
// file the total may be off by a segment: an eighth of it, at most 16 MB.
func (s *Store) TrimResults(ctx context.Context, l ResultLimits) (deleted int64, err error) {
	deleted, err = s.results.trim(ctx, l, s.opts.Now())
	return deleted, s.explain("trim results", err)
}

// sealResult appends the arguments and the body as they are stored.
func (o *Options) sealResult(b []byte, r *Result) (all []byte, args int) {
	start := len(b)
	b = o.SecretKey.appendSealed(b, resultRow(r, "args"), r.Args)
	args = len(b) - start
	return o.SecretKey.appendSealed(b, resultRow(r, "body"), r.Body), args
}

// openResult reverses sealResult.
func (o *Options) openResult(r *Result, args, body []byte) {
	what := "result " + r.Ref
	if r.Args, r.Err = o.SecretKey.open(what, resultRow(r, "args"), args); r.Err == nil {
		r.Body, r.Err = o.SecretKey.open(what, resultRow(r, "body"), body)
	}
	if r.Err != nil {
		r.Args = nil
	}
}

// resultRow is what a sealed part is bound to. Changing it makes stored ones unreadable.
func resultRow(r *Result, part string) string {
	return "results/" + part + "/" + r.Ref + "/" + r.Owner
}
