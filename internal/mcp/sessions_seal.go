package mcp

import (
	"encoding/base64"
	"encoding/json"
)

// sealedSession is what a session's token holds, so that every gateway with the same key can take the
// session up again: after a restart, or because the next request came to it.
type sealedSession struct {
	ID           string          `json:"i"`
	Owner        string          `json:"o"`
	Group        string          `json:"g"`
	Version      string          `json:"v"`
	Capabilities json.RawMessage `json:"c,omitempty"`
	Info         json.RawMessage `json:"n,omitempty"`
}

// maxToken is the length of the longest token: proxies limit headers. A session whose client says more
// about itself is known to one gateway only, which its token names where there are others.
const maxToken = 1400

// tokenFor makes the token of a session.
func (s *Sessions) tokenFor(sess *Session) string {
	if s.opts.Cipher == nil {
		return sess.ID
	}
	plain, _ := json.Marshal(sealedSession{ // strings and valid JSON only
		ID: sess.ID, Owner: sess.Owner, Group: sess.Group, Version: sess.Version, Capabilities: sess.Capabilities, Info: sess.Info,
	})
	token := base64.RawURLEncoding.EncodeToString(s.opts.Cipher.Seal(nil, nil, plain, nil))
	if len(token) > maxToken {
		return streamID(s.opts.Replica, sess.ID)
	}
	return token
}

// reopen takes up the session of a token that this process does not know; nil if it is no token of
// ours, belongs to another owner or group, or the session was ended here.
func (s *Sessions) reopen(token, owner, group string) *Session {
	if s.opts.Cipher == nil || len(token) > maxToken {
		return nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return nil
	}
	plain, err := s.opts.Cipher.Open(nil, nil, raw, nil)
	var was sealedSession
	if err != nil || json.Unmarshal(plain, &was) != nil || was.Owner != owner || was.Group != group {
		return nil
	}
	if s.hasEnded(was.ID) || s.opts.Over(was.ID) {
		return nil
	}
	sess := &Session{
		ID: was.ID, Owner: was.Owner, Group: was.Group, Version: was.Version, Capabilities: was.Capabilities, Info: was.Info,
		done: make(chan struct{}), token: token,
	}
	if s.add(sess, true) != nil {
		return nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byToken[token] // another request may have been quicker
}

// maxEnded is how many ended sessions are remembered.
const maxEnded = 10_000

// endForGood ends a session and remembers it: by its client or with its key. Its token is of no use any more.
func (s *Sessions) endForGood(sess *Session) {
	s.mu.Lock()
	if len(s.ended) >= maxEnded {
		clear(s.ended) // they were idle for long
	}
	s.ended[sess.ID] = true
	s.mu.Unlock()
	sess.final.Store(true)
	s.remove(sess)
}

func (s *Sessions) hasEnded(id string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.ended[id]
}
