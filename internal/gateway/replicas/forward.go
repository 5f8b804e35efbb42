package replicas

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	passFor  = 30 * time.Second // how long a pass opens the door of the other
	tellTime = 3 * time.Second  // how long the others have to take a message that needs no answer
)

// pass says who sent a request that is passed on. It is for one replica, method and address.
type pass struct {
	To      string           `json:"t"`
	Who     access.Principal `json:"w"`
	Expires int64            `json:"e"` // Unix milliseconds
	Sent    access.Sent      `json:"s,omitzero"`
}

func (r *Replicas) seal(to string, who access.Principal, method, uri string) string {
	return r.sealWith(access.Sent{}, to, who, method, uri)
}

// sealWith is seal for a request that came with a token which a server behind the other replica may need. Only
// gateways can open a pass, and it holds for one of them, one request, and a short time.
func (r *Replicas) sealWith(sent access.Sent, to string, who access.Principal, method, uri string) string {
	plain, _ := json.Marshal(pass{To: to, Who: who, Expires: r.opts.Now().Add(passFor).UnixMilli(), Sent: sent}) // strings and a number
	return base64.RawURLEncoding.EncodeToString(r.cipher.Seal(nil, nil, plain, binding(method, uri)))
}

func binding(method, uri string) []byte { return []byte(method + " " + uri) }

// Admitted is who sent a request that another replica has passed on; false if its pass is not for this
// request and replica, or too old.
func (r *Replicas) Admitted(req *http.Request) (access.Principal, bool) {
	p, ok := r.open(req)
	return p.Who, ok
}

// Sent is the token that came with a request which another replica has passed on; the zero value if none did.
func (r *Replicas) Sent(req *http.Request) access.Sent {
	if p, ok := r.open(req); ok && p.Sent.Owner == p.Who.ID {
		return p.Sent
	}
	return access.Sent{}
}

func (r *Replicas) open(req *http.Request) (p pass, ok bool) {
	values := req.Header[access.PassHeader]
	if len(values) != 1 {
		return p, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(values[0])
	if err != nil {
		return p, false
	}
	plain, err := r.cipher.Open(nil, nil, raw, binding(req.Method, req.RequestURI))
	if err != nil || json.Unmarshal(plain, &p) != nil || p.To != r.self.ID || r.opts.Now().UnixMilli() > p.Expires {
		return pass{}, false
	}
	return p, true
}

// hop is the way of one request to another replica.
type hop struct {
	url  *url.URL
	host string // as the client wrote it
	who  access.Principal
	pass string
	body []byte
}

// hop prepares the way of a client's request. Those of our own user's socket stay here: their sessions do.
func (r *Replicas) hop(to store.Replica, in *http.Request, body []byte) (*hop, error) {
	who, err := r.opts.Admit(in)
	if err != nil {
		return nil, err
	}
	return r.hopAs(to, who, in, body)
}

// hopAs prepares the way of a request of somebody who was admitted.
func (r *Replicas) hopAs(to store.Replica, who access.Principal, in *http.Request, body []byte) (*hop, error) {
	if inbound.FromOwner(in) || !strings.HasPrefix(in.RequestURI, "/") {
		return nil, errors.New("requests of this kind are not passed on")
	}
	target, err := url.Parse(to.URL + in.RequestURI)
	if err != nil {
		return nil, err
	}
	return &hop{target, in.Host, who, r.seal(to.ID, who, in.Method, target.RequestURI()), body}, nil
}

// lead gives a request its way.
func (h *hop) lead(out *http.Request) {
	out.URL = h.url
	out.Host = h.host
	out.Header.Set(access.PassHeader, h.pass)
	out.TransferEncoding = nil
	out.ContentLength = int64(len(h.body))
	out.Body = http.NoBody
	if len(h.body) > 0 {
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(h.body)), nil }
		out.Body, _ = out.GetBody()
	}
}

// Forward passes a request with its body on to a replica, and the answer back as it comes. False: the
// replica is not there, nothing was sent and nothing is answered.
func (r *Replicas) Forward(w http.ResponseWriter, req *http.Request, body []byte, replica string) bool {
	to, there := r.other(req.Context(), replica)
	if !there {
		return false
	}
	way, err := r.hop(to, req, body)
	if err != nil {
		return false
	}
	if sent := access.SentWith(req.Context()); sent.Text != "" {
		way.pass = r.sealWith(sent, to.ID, way.who, req.Method, way.url.RequestURI())
	}
	return r.forward(w, req, to, way)
}

// ForwardAs is Forward for a request without a body of somebody who was admitted in another way. It can be
// one that opens a WebSocket.
func (r *Replicas) ForwardAs(w http.ResponseWriter, req *http.Request, who access.Principal, replica string) bool {
	to, there := r.other(req.Context(), replica)
	if !there {
		return false
	}
	way, err := r.hopAs(to, who, req, nil)
	return err == nil && r.forward(w, req, to, way)
}

func (r *Replicas) forward(w http.ResponseWriter, req *http.Request, to store.Replica, way *hop) (reached bool) {
	if req.Method == http.MethodGet { // a stream
		ctx, cancel := context.WithCancel(req.Context())
		defer cancel()
		defer context.AfterFunc(r.leaving, cancel)()
		req = req.WithContext(ctx)
		defer r.endStream()
	}
	reached = true
	proxy := httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			for _, name := range []string{"Authorization", "Cookie", "Origin", "Expect"} {
				p.Out.Header.Del(name) // the pass says who sends it, and the page was checked here
			}
			if p.In.Header.Get("Upgrade") != "" {
				p.Out.Header["Origin"] = p.In.Header["Origin"] // who accepts a WebSocket compares it again
			}
			way.lead(p.Out)
		},
		Transport: r.transport, FlushInterval: -1, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		ModifyResponse: func(resp *http.Response) error {
			if resp.StatusCode == http.StatusUnauthorized {
				return errRefused
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if req.Context().Err() == nil {
				r.opts.Logger.Warn("another gateway did not answer", "replica", to.ID, "url", to.URL, "error", err)
				reached = !isDial(err) && !errors.Is(err, errRefused) && req.Method != http.MethodGet // a stream can be begun elsewhere
			}
			if !reached {
				return
			}
			http.Error(w, "the gateway that this request belongs to did not answer", http.StatusBadGateway)
		},
	}
	proxy.ServeHTTP(w, req)
	return reached
}

// errRefused is of a pass that does not open the door: the gateway at this address is another by now, or its clock
// goes wrong. It has done nothing.
var errRefused = errors.New("it did not accept the pass")

// endStream lets a stream end well that is passed on no more because we go down.
func (r *Replicas) endStream() {
	if r.leaving.Err() == nil {
		return
	}
	if p := recover(); p != nil && p != http.ErrAbortHandler {
		panic(p)
	}
}

// isDial tells whether there was no connection, so that nothing was sent.
func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// Tell sends a message to a replica, or with "" to all others that are alive. It waits until they have
// it, for a short time; their answers are dropped.
func (r *Replicas) Tell(req *http.Request, body []byte, replica string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(req.Context()), tellTime)
	defer cancel()
	var wg sync.WaitGroup
	for id, to := range r.Others(ctx) {
		if replica == "" || replica == id {
			wg.Go(func() {
				if err := r.tell(ctx, to, req, body); err != nil {
					r.opts.Logger.Warn("another gateway was not told of a message", "replica", id, "error", err)
				}
			})
		}
	}
	wg.Wait()
}

// told are the headers of messages that are told to others.
var told = []string{"Content-Type", "Accept", "Mcp-Session-Id", "Mcp-Protocol-Version"}

func (r *Replicas) tell(ctx context.Context, to store.Replica, req *http.Request, body []byte) error {
	way, err := r.hop(to, req, body)
	if err != nil {
		return err
	}
	out := (&http.Request{Method: req.Method, Header: http.Header{}}).WithContext(ctx)
	for _, name := range told {
		if values := req.Header[name]; values != nil {
			out.Header[name] = values
		}
	}
	way.lead(out)
	resp, err := r.transport.RoundTrip(out)
	if err != nil {
		return err
	}
	io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	return resp.Body.Close()
}

// maxAnswer limits what is read of an answer to a request of our own.
const maxAnswer = 1 << 20

// Send sends a request of ours to another replica for somebody, and returns what it answers. An error of
// fault.NotFound says that it is not there.
func (r *Replicas) Send(ctx context.Context, who access.Principal, replica, method, path string) (status int, body []byte, err error) {
	to, there := r.other(ctx, replica)
	if !there {
		return 0, nil, fault.New(fault.NotFound, "the gateway that has it cannot be reached from here")
	}
	out, err := http.NewRequestWithContext(ctx, method, to.URL+path, nil)
	if err != nil {
		return 0, nil, err
	}
	out.Header.Set(access.PassHeader, r.seal(to.ID, who, method, out.URL.RequestURI()))
	resp, err := r.transport.RoundTrip(out)
	if err != nil {
		return 0, nil, fault.New(fault.UpstreamDown, "the gateway that has it does not answer")
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp.StatusCode, body, err
}
