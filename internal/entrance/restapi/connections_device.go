package restapi

import (
	"context"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/access"
)

// DeviceLogin is a sign-in on another device that has begun.
type DeviceLogin struct {
	Code    string    `json:"code"` // the person types it in
	Page    string    `json:"page"` // there
	Whole   string    `json:"page_with_code,omitempty"`
	State   string    `json:"state"` // names the sign-in when it is finished
	Expires time.Time `json:"expires_at"`
	Again   int       `json:"again_s"` // seconds before it is asked again whether it is done
}

// DeviceAnswer tells whether a sign-in on another device is done.
type DeviceAnswer struct {
	Connected tool.ServerID `json:"connected,omitempty"`
	Again     int           `json:"again_s,omitempty"` // not yet: ask after so many seconds
}

// BeginDevice begins a sign-in on another device.
func (a *API) BeginDevice(ctx context.Context, who access.Principal, id tool.ServerID) (DeviceLogin, error) {
	client, owner, err := a.signsIn(who, id)
	if err != nil {
		return DeviceLogin{}, err
	}
	d, state, err := a.Connections.BeginDevice(ctx, client, owner)
	if err != nil {
		return DeviceLogin{}, err
	}
	return DeviceLogin{d.UserCode, d.Page, d.Whole, state, d.Expires, seconds(d.Interval)}, nil
}

func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// finishDevice finishes a sign-in on another device if the person has signed in there.
func (a *API) finishDevice(q *request) (any, error) {
	var in struct {
		State string `json:"state"`
	}
	if err := q.decode(&in, `{"state"}`); err != nil {
		return nil, err
	}
	if in.State == "" {
		return nil, fault.New(fault.BadRequest, "state is missing").WithHint("send the one of the answer that began the sign-in")
	}
	id := tool.ServerID(q.id())
	client, owner, err := a.signsIn(q.who, id)
	if err != nil {
		return nil, err
	}
	again, err := a.Connections.FinishDevice(q.Context(), client, owner, in.State)
	if err != nil || again > 0 {
		return DeviceAnswer{Again: seconds(again)}, err
	}
	a.Registry.SignedIn(id)
	return DeviceAnswer{Connected: id}, nil
}
