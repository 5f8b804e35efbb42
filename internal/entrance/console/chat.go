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

// Sessions reads the sessions that the caller may see.
type Sessions interface {
	ListSessions(ctx context.Context, who access.Principal, f store.SessionFilter) (restapi.SessionList, error)
	ReadSession(ctx context.Context, who access.Principal, id string) (restapi.Session, error)
	ReadMessages(ctx context.Context, who access.Principal, id string, part restapi.Stretch) (restapi.MessageList, error)
	CancelAnswer(ctx context.Context, who access.Principal, id string) (restapi.Session, error)
}

func (c *Console) chatSection() section {
	return section{name: "chat", path: "/chat", key: "h", may: access.Principal.MayCall, routes: map[string]handler{
		"GET /chat":                   page("chat", whole, c.readChat),
		"GET /chat/{session}":         page("chat", whole, c.readChat),
		"GET /chat/{session}/turns":   page("chat", "said", c.chatTurns),
		"POST /chat":                  c.say,
		"POST /chat/completions":      c.streamChat(),
		"POST /chat/{session}/cancel": c.cancelAnswer,
	}}
}

const pastChats = 30

type chatPage struct {
	Agents  []config.Agent
	Agent   string // id of the agent
	Session restapi.Session
	Turns   []turn
	Earlier bool // there are earlier messages
	Past    []pastChat
	More    bool // there are older chats
	Swap    bool // replace the list of chats on the page
}

type pastChat struct {
	restapi.Session
	Agent string
	Here  bool
}

// agentOf is the agent of a session; "" if it is not a chat.
func agentOf(s restapi.Session) (id string) {
	json.Unmarshal(s.Metadata[agent.AgentKey], &id) // not a string: not a chat
	return id
}

// readChat reads the chat that the path names; without a name it is a new one.
func (c *Console) readChat(v *visit) (p chatPage, err error) {
	id := v.PathValue("session")
	p.Agents = c.Chat.Agents(v.who)
	p.Agent = v.URL.Query().Get("agent")
	if p.Agent == "" && len(p.Agents) > 0 {
		p.Agent = p.Agents[0].ID
	}
	if id != "" {
		p.Session, err = c.Sessions.ReadSession(v.Context(), v.who, id)
		if err != nil {
			return p, err
		}
		list, err := c.Sessions.ReadMessages(v.Context(), v.who, id, restapi.Stretch{Last: true, Limit: maxTurns})
		if err != nil {
			return p, err
		}
		p.Agent = agentOf(p.Session)
		p.Turns = turnsOf(v.lang, list.Messages)
		p.Earlier = len(list.Messages) > 0 && list.Messages[0].Position > 1
	}
	own, err := c.Sessions.ListSessions(v.Context(), v.who, store.SessionFilter{Owner: v.who.ID, Limit: pastChats})
	for _, s := range own.Sessions {
		if by := agentOf(s); by != "" {
			p.Past = append(p.Past, pastChat{s, by, s.ID == id})
		}
	}
	p.More = own.Next != ""
	return p, err
}

// chatTurns is the conversation so far and the list of chats, for an open page.
func (c *Console) chatTurns(v *visit) (chatPage, error) {
	p, err := c.readChat(v)
	p.Swap = true
	return p, err
}

// say answers without JavaScript: the page is sent when the answer is complete.
func (c *Console) say(v *visit) (answer, error) {
	said := strings.TrimSpace(v.PostForm.Get("text"))
	if said == "" {
		return answer{}, fault.New(fault.BadRequest, "the message is empty").WithHint("write something first")
	}
	a, err := c.Chat.Answer(v.Context(), agent.Turn{
		Agent: v.PostForm.Get("agent"), Principal: v.who, Session: v.PostForm.Get("session"),
		Messages: []conversation.Message{conversation.Text(conversation.RoleUser, said)},
	})
	if err != nil {
		return answer{}, err
	}
	return done("/chat/"+url.PathEscape(a.Session), "")
}

// cancelAnswer stops an answer that is being made elsewhere: for another page, or at another gateway.
func (c *Console) cancelAnswer(v *visit) (answer, error) {
	id := v.PathValue("session")
	if _, err := c.Sessions.CancelAnswer(v.Context(), v.who, id); err != nil {
		return answer{}, err
	}
	return done("/chat/"+url.PathEscape(id), "")
}

// streamChat streams the answer: the chat completions API for people who are signed in.
func (c *Console) streamChat() handler {
	api := chatapi.New(chatapi.Parts{Agents: c.Chat, Admit: c.admit, MaxBody: maxForm, Logger: c.Logger})
	return func(v *visit) (answer, error) {
		return serve(func(w http.ResponseWriter) {
			r := v.Request.Clone(v.Context())
			r.URL.Path = "/v1" + r.URL.Path
			api.ServeHTTP(w, r)
		})
	}
}
