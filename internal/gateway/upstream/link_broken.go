package upstream

import (
	"errors"
	"strconv"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/mcp"
)

// unreadable fails the call that a broken line answers. A line that answers nothing is output between messages.
func (l *link) unreadable(line []byte, why error) {
	var w *waiter
	if id, err := strconv.ParseInt(string(mcp.BrokenAnswer(line)), 10, 64); err == nil {
		w = l.waiter(id, true)
	}
	if w == nil {
		l.garbage(line)
		return
	}
	var rpc *mcp.Error
	if errors.As(why, &rpc) {
		why = errors.New(rpc.Message) // the code is meant for clients of ours
	}
	w.answer <- answer{err: unreadableAnswer(l.server, why)}
}

func unreadableAnswer(server tool.ServerID, why error) error {
	return fault.New(fault.UpstreamProtocol, "server %s sent an answer that cannot be read: %v", server, why).
		WithHint("the tool may have run; what it returns must be JSON in UTF-8, without NaN and not nested too deep")
}

// tooLong fails the call whose answer was over the limit. If that is unknown, all pending calls fail.
func (l *link) tooLong(long *mcp.LongLineError) {
	err := tooLarge(l.server, long.Size, int64(long.Limit))
	id, known := answerOf(long)
	switch {
	case known && id == 0:
		return // nobody waits for it
	case known:
		if w := l.waiter(id, true); w != nil {
			w.answer <- answer{err: err}
		}
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, w := range l.pending {
		delete(l.pending, id)
		w.answer <- answer{err: err}
	}
}

func tooLarge(server tool.ServerID, size, limit int64) error {
	return fault.New(fault.TooLarge, "server %s sent a message of %d bytes, over the limit of %d", server, size, limit).
		WithHint("ask for less, or raise limits.message")
}

// answerOf finds the request that a too long message answers; 0: it is not an answer.
func answerOf(long *mcp.LongLineError) (id int64, known bool) {
	raw, hasMethod := long.ID()
	if hasMethod {
		return 0, true // the server's own request or notification
	}
	id, err := strconv.ParseInt(string(raw), 10, 64)
	return id, err == nil
}
