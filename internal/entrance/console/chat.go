package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/chatapi"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Sessions are what was said, as far as the caller may see and change it.
type Sessions interface {
	SessionBook
	SessionChanges
}

// SessionBook reads sessions.
type SessionBook interface {
	ListSessions(ctx context.Context, who access.Principal, f store.SessionFilter) (restapi.SessionList, error)
	ReadSession(ctx context.Context, who access.Principal, id string) (restapi.Session, error)
	ReadMessages(ctx context.Context, who access.Principal, id string, part restapi.Stretch) (restapi.MessageList, error)
}

func (c *Console) chatSection() section {
	return section{name: "chat", path: "/chat", key: "h", may: access.Principal.MayCall, routes: map[string]handler{
		"GET /chat":                 c.newChat,
		"GET /chat/{session}":       c.showChat,
		"GET /chat/{session}/turns": c.chatTurns,
		"POST /chat":                c.say,
		"POST /chat/completions":    c.streamChat(),
	}}
}

// pastChats is how many earlier chats are listed.
const pastChats = 30

// chatPage is what a chat shows.
type chatPage struct {
	Agents  []config.Agent
	Agent   string // that is talked with
	Session restapi.Session
	Turns   []turn
	Earlier bool // there are messages before those that are shown
	Past    []pastChat
	More    bool // there are older chats than those
	Swap    bool // the list takes the place of the one that is there
}

// pastChat is a chat that can be gone on with.
type pastChat struct {
	restapi.Session
	Agent string
	Here  bool
}

// agentOf is the agent of a session; "" where it is no chat.
func agentOf(s restapi.Session) (id string) {
	json.Unmarshal(s.Metadata[agent.AgentKey], &id) // what is no text is no agent
	return id
}

// chatOf is the page of a chat; "" for a new one.
func (c *Console) chatOf(v *visit, id string) (p chatPage, err error) {
	p.Agents = c.Chat.Agents(v.who)
	if p.Agent = v.URL.Query().Get("agent"); p.Agent == "" && len(p.Agents) > 0 {
		p.Agent = p.Agents[0].ID
	}
	if id != "" {
		if p.Session, err = c.Gateway.ReadSession(v.Context(), v.who, id); err != nil {
			return p, err
		}
		list, err := c.Gateway.ReadMessages(v.Context(), v.who, id, restapi.Stretch{Last: true, Limit: maxTurns})
		if err != nil {
			return p, err
		}
		p.Agent, p.Turns = agentOf(p.Session), turnsOf(v.lang, list.Messages)
		p.Earlier = len(list.Messages) > 0 && list.Messages[0].Position > 1
	}
	own, err := c.Gateway.ListSessions(v.Context(), v.who, store.SessionFilter{Owner: v.who.ID, Limit: pastChats})
	for _, s := range own.Sessions {
		if by := agentOf(s); by != "" {
			p.Past = append(p.Past, pastChat{s, by, s.ID == id})
		}
	}
	p.More = own.Next != ""
	return p, err
}

func (c *Console) newChat(v *visit) (answer, error) {
	p, err := c.chatOf(v, "")
	if err != nil {
		return answer{}, err
	}
	return show("chat", p)
}

func (c *Console) showChat(v *visit) (answer, error) {
	p, err := c.chatOf(v, v.PathValue("session"))
	if err != nil {
		return answer{}, err
	}
	return show("chat", p)
}

// chatTurns is what was said so far, with the list of chats beside it.
func (c *Console) chatTurns(v *visit) (answer, error) {
	p, err := c.chatOf(v, v.PathValue("session"))
	if err != nil {
		return answer{}, err
	}
	p.Swap = true
	return part("chat", "said", p)
}

// say answers a person whose browser runs no scripts: the page comes when the answer is whole.
func (c *Console) say(v *visit) (answer, error) {
	said := strings.TrimSpace(v.PostForm.Get("text"))
	if said == "" {
		return answer{}, fault.New(fault.BadRequest, "there is nothing to answer").WithHint("write something first")
	}
	a, err := c.Chat.Answer(v.Context(), agent.Turn{
		Agent: v.PostForm.Get("agent"), Principal: v.who, Session: v.PostForm.Get("session"), Messages: []conversation.Message{conversation.Text(conversation.RoleUser, said)},
	})
	if err != nil {
		return answer{}, err
	}
	return done("/chat/"+url.PathEscape(a.Session), "")
}

// streamChat answers piece by piece. It is the chat completions API, here for those who have
// signed in.
func (c *Console) streamChat() handler {
	api := chatapi.New(chatapi.Parts{Agents: c.Chat, Admit: c.admit, MaxBody: maxForm, Logger: c.Logger})
	return func(*visit) (answer, error) {
		return answer{serve: func(w http.ResponseWriter, r *http.Request) {
			r = r.Clone(r.Context())
			r.URL.Path = "/v1" + r.URL.Path
			api.ServeHTTP(w, r)
		}}, nil
	}
}
