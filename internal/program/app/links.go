package app

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/repeat"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/identity"
)

// links are the one-time links by which people on this machine sign in to the console.
type links struct {
	mu   sync.Mutex
	open map[string]string // what signs in, by the link's token
}

// SignInLink is the path of a link that signs in whoever opens it first; "" if people need keys.
func (a *App) SignInLink() string {
	if a.opts.LocalSecret == "" || a.Keys.Any() {
		return ""
	}
	token := rand.Text()
	a.links.mu.Lock()
	defer a.links.mu.Unlock()
	if a.links.open == nil {
		a.links.open = map[string]string{}
	}
	a.links.open[token] = string(a.opts.LocalSecret)
	return "/sign-in?once=" + token
}

// use returns the secret of a link, once.
func (l *links) use(token string) (secret string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	secret, ok = l.open[token]
	delete(l.open, token)
	return secret, ok
}

// keysEvery is how often the sessions are compared with the keys.
const keysEvery = time.Second

// followKeys ends the sessions and streams of callers whose key was deleted or has expired, or who had none
// before there were any, and the streams of a key of which a secret has ended.
func (a *App) followKeys(ctx context.Context) {
	repeat.Every(ctx.Done(), keysEvery, a.endStrangers)
}

func (a *App) endStrangers() {
	a.sessions.EndOf(func(owner string) bool { return !a.letsIn(owner) })
	for _, id := range a.Keys.Ended() {
		a.sessions.HangUpOf(id)
	}
}

func (a *App) letsIn(owner string) bool {
	switch owner {
	case stdioOwner:
		return true
	case access.Local().ID:
		return !a.Keys.Any() // with identity providers alone, who has the local secret
	}
	if strings.HasPrefix(owner, identity.IDPrefix) {
		return a.edge.Load().signIn != nil && !fault.Is(a.Keys.CheckPerson(context.Background(), owner, owner), fault.Forbidden)
	}
	return a.Keys.Has(owner)
}
