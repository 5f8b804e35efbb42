package demo

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// ParcelsSpec is the OpenAPI document of Parcels, without its address.
//
//go:embed parcels.json
var ParcelsSpec []byte

type destination struct {
	Street string `json:"street"`
	City   string `json:"city"`
}

type parcel struct {
	ID      string      `json:"id"`
	Order   int         `json:"order"`
	State   string      `json:"state"`
	Address destination `json:"address"`
	Told    bool        `json:"customerTold"`
}

// parcels is the state of the API. Only addresses change.
type parcels struct {
	mu  sync.Mutex
	all map[string]*parcel
}

const maxParcelBody = 4 << 10

// Parcels makes the HTTP API "parcels", the carrier of the shop's orders, to try an HTTP API as
// tools.
func Parcels() http.Handler {
	p := &parcels{all: map[string]*parcel{}}
	for i, city := range []string{"Lisbon", "Oslo", "上海", "Lima"} {
		id := fmt.Sprintf("P-%d", 1001+i)
		p.all[id] = &parcel{ID: id, Order: 5001 + i, State: "on its way", Address: destination{fmt.Sprintf("Harbour Road %d", i+1), city}}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /parcels/{id}", p.get)
	mux.HandleFunc("PUT /parcels/{id}/address", p.move)
	return mux
}

func (p *parcels) get(w http.ResponseWriter, r *http.Request) {
	p.answer(w, r, func(*parcel) {})
}

func (p *parcels) move(w http.ResponseWriter, r *http.Request) {
	var to destination
	if err := json.NewDecoder(io.LimitReader(r.Body, maxParcelBody)).Decode(&to); err != nil || to.Street == "" || to.City == "" {
		reply(w, http.StatusBadRequest, map[string]string{"message": "the body needs street and city"})
		return
	}
	p.answer(w, r, func(found *parcel) {
		found.Address = to
		found.Told = r.URL.Query().Get("notify") == "true"
	})
}

// answer changes the parcel that the path names and replies with it.
func (p *parcels) answer(w http.ResponseWriter, r *http.Request, change func(*parcel)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found, ok := p.all[r.PathValue("id")]
	if !ok {
		reply(w, http.StatusNotFound, map[string]string{"message": "there is no such parcel; known are P-1001 to P-1004"})
		return
	}
	change(found)
	reply(w, http.StatusOK, found)
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // the client may have left
}
