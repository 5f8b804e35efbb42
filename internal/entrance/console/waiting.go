package console

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// maxWaiting is how many waiting calls the page of calls shows: the newest.
const maxWaiting = 20

// waitingPart is the calls that go on without their requests.
type waitingPart struct {
	Calls []waitingRow
	More  bool // only the newest are shown
	At    time.Time
}

type waitingRow struct {
	restapi.Call
	May bool // cancel it
}

func (c *Console) waitingCalls(v *visit) (*waitingPart, error) {
	page, err := c.Calls.ListCalls(v.Context(), v.who, url.Values{"waiting": {"true"}, "limit": {strconv.Itoa(maxWaiting)}}, 0)
	p := &waitingPart{More: page.Next != "", At: time.Now()}
	for _, one := range page.Calls {
		p.Calls = append(p.Calls, waitingRow{one, restapi.MayChange(v.who, one.Principal)})
	}
	return p, err
}

// asked is a question of a waiting call.
type asked struct {
	Key, Method string
	Params      block
}

// addWaiting adds what the page of a waiting call shows.
func (p *callPage) addWaiting(v *visit) {
	p.Now = time.Now()
	p.May = p.Open() && restapi.MayChange(v.who, p.Principal)
	for _, q := range p.Questions {
		p.Asked = append(p.Asked, asked{q.Key, q.Method, code(plain(q.Key), q.Params)})
	}
	if p.Result != nil {
		p.Answer = codeUpTo(text(v.lang, "call.result"), p.Result, maxOfResult)
	}
}

// cancelCall cancels a waiting call, and goes back to where the person was.
func (c *Console) cancelCall(v *visit) (answer, error) {
	one, err := c.CallChanges.CancelCall(v.Context(), v.who, v.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	back, _, _ := strings.Cut(v.back, "?")
	if back != "/calls" {
		back = "/calls/" + url.PathEscape(one.ID)
	}
	return done(back, "callCanceled")
}
