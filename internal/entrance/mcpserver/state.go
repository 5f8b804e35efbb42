package mcpserver

import (
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
)

// state is what a modern client is given to bring back with its next request.
type state struct {
	Kind    stateKind       `json:"k"`
	Expires int64           `json:"e"`           // Unix seconds
	Round   int             `json:"r,omitempty"` // how often the call has been answered with a question
	Talk    string          `json:"t,omitempty"` // the parked call
	Replica string          `json:"i,omitempty"` // where it is parked
	State   json.RawMessage `json:"s,omitempty"` // the server's own, as it wrote it
}

type stateKind string

const (
	stateParked stateKind = "parked" // a call at a legacy server waits for the answers
	stateServer stateKind = "server" // a modern server gave the state
	stateRepeat stateKind = "repeat" // the call is made anew
)

// stateFor is how long a state holds that keeps nothing waiting.
const stateFor = time.Hour

// statePrefix tells our states from others.
const statePrefix = "tf1."

// seal encrypts states. A state opens only for the caller and the call that it was made for.
type seal struct {
	aead cipher.AEAD
	now  func() time.Time
}

func newSeal(key []byte, now func() time.Time) *seal {
	return &seal{access.NewCipher("requestState", key), now}
}

func (s *seal) close(st state, binding []byte, holds time.Duration) string {
	st.Expires = s.now().Add(holds).Unix()
	plain, _ := json.Marshal(st) // strings, numbers and valid JSON only
	return statePrefix + base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, binding))
}

// open gives back what was sealed, unless it was changed, is too old, or is another's.
func (s *seal) open(text string, binding []byte) (state, error) {
	var st state
	text, ours := strings.CutPrefix(text, statePrefix)
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if !ours || err != nil {
		return st, errState("it was changed")
	}
	plain, err := s.aead.Open(nil, nil, sealed, binding)
	if err != nil {
		return st, errState("it was changed, or is of another call or caller")
	}
	if json.Unmarshal(plain, &st) != nil || s.now().Unix() > st.Expires {
		return st, errState("it is too old")
	}
	return st, nil
}

func errState(why string) error {
	return mcp.Errorf(mcp.CodeInvalidParams, "params.requestState is not valid: %s; make the call anew without it", why)
}

// binding is what a state belongs to: who asks, and for what.
func (v *visitor) binding(req *mcp.Request) []byte {
	b := []byte(v.principal.ID + "\x00" + v.profile + "\x00" + req.Method + "\x00")
	sum := rawjson.Digest(mcp.Without(req.Params, "_meta", "inputResponses", "requestState"))
	return append(b, sum[:]...)
}
