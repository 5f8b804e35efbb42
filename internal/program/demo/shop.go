package demo

import (
	"context"
	_ "embed"
	"encoding/json"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/arguments"
	"github.com/toolfit/toolfit/internal/mcp"
)

const maxNotes = 100

// shop is the state of the server. Only notes change.
type shop struct {
	customers []customer
	products  []product
	orders    []order // the newest first
	tree      []category

	mu    sync.Mutex
	notes map[int64][]note // by order
}

// Shop makes the server "shop", a small store in memory.
func Shop() mcp.Handler {
	s := &shop{customers: customers(), products: products(), tree: categories(), notes: map[int64][]note{}}
	s.orders = orders(s.customers, s.products)
	return newServer(shopTools, map[string]run{
		"list_orders": s.listOrders, "get_order": s.getOrder, "find_customers": s.findCustomers, "add_note": s.addNote,
		"slow_report": s.slowReport, "fail": s.fail, "export_all": s.exportAll, "category_tree": s.categoryTree,
	})
}

//go:embed shop.json
var shopTools []byte

func (s *shop) listOrders(_ context.Context, in *args, _ *mcp.Request) (any, error) {
	status := in.ChoiceIf("status", statuses()...)
	from := in.TextIf("customer", 64)
	limit := in.WholeOr("limit", 1, 100, 20)
	if err := in.done(); err != nil {
		return nil, err
	}
	if err := s.checkCustomer(from); err != nil {
		return nil, err
	}
	list := struct {
		Orders []order `json:"orders"`
		Total  int     `json:"total"`
	}{Orders: []order{}}
	for _, o := range s.orders {
		if status != "" && o.Status != status || from != "" && o.Customer.ID != from {
			continue
		}
		list.Total++
		if int64(len(list.Orders)) < limit {
			list.Orders = append(list.Orders, s.withNotes(o))
		}
	}
	return list, nil
}

// checkCustomer rejects an unknown id; "" is none.
func (s *shop) checkCustomer(id string) error {
	if id == "" {
		return nil
	}
	ids := make([]string, len(s.customers))
	for i, c := range s.customers {
		if c.ID == id {
			return nil
		}
		ids[i] = c.ID
	}
	return problemf("customer: there is no customer %q; similar ids: %s", id, strings.Join(near(id, ids), ", "))
}

func (s *shop) getOrder(_ context.Context, in *args, _ *mcp.Request) (any, error) {
	id := in.Whole("id", 1, math.MaxInt64)
	if err := in.done(); err != nil {
		return nil, err
	}
	o, err := s.order("id", id)
	if err != nil {
		return nil, err
	}
	return s.withNotes(o), nil
}

func (s *shop) order(field string, id int64) (order, error) {
	for _, o := range s.orders {
		if o.ID == id {
			return o, nil
		}
	}
	return order{}, problemf("%s: there is no order %d; ids look like %d; list_orders returns them", field, id, s.orders[0].ID)
}

// withNotes is a copy of the order with its current notes.
func (s *shop) withNotes(o order) order {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.Notes = append([]note{}, s.notes[o.ID]...)
	return o
}

func (s *shop) findCustomers(_ context.Context, in *args, _ *mcp.Request) (any, error) {
	query := strings.ToLower(in.Text("query", 200))
	if err := in.done(); err != nil {
		return nil, err
	}
	found := struct {
		Customers []customer `json:"customers"`
	}{[]customer{}}
	for _, c := range s.customers {
		text := strings.Join([]string{c.ID, c.Name, c.Email, c.Address.City, c.Address.CityEn}, "\n")
		if strings.Contains(strings.ToLower(text), query) {
			found.Customers = append(found.Customers, c)
		}
	}
	return found, nil
}

func (s *shop) addNote(_ context.Context, in *args, _ *mcp.Request) (any, error) {
	id := in.Whole("orderId", 1, math.MaxInt64)
	text := in.Text("text", 500)
	if err := in.done(); err != nil {
		return nil, err
	}
	o, err := s.order("orderId", id)
	if err != nil {
		return nil, err
	}
	if err := s.keepNote(id, text); err != nil {
		return nil, err
	}
	return struct {
		OrderID int64  `json:"orderId"`
		Notes   []note `json:"notes"`
	}{id, s.withNotes(o).Notes}, nil
}

func (s *shop) keepNote(id int64, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.notes[id])
	if n >= maxNotes {
		return problemf("orderId: order %d already has %d notes, the maximum", id, n)
	}
	s.notes[id] = append(s.notes[id], note{Number: n + 1, Text: text})
	return nil
}

func (s *shop) slowReport(ctx context.Context, in *args, req *mcp.Request) (any, error) {
	seconds := in.Whole("seconds", 0, 60)
	if err := in.done(); err != nil {
		return nil, err
	}
	token := progressToken(req.Params)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for step := int64(1); step <= seconds; step++ {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-tick.C:
		}
		if token != nil {
			tellProgress(ctx, req.Client, token, step, seconds)
		}
	}
	counts := make([]statusCount, len(statuses()))
	for i, status := range statuses() {
		counts[i].Status = status
		for _, o := range s.orders {
			if o.Status == status {
				counts[i].Orders++
			}
		}
	}
	return struct {
		Seconds int64         `json:"seconds"`
		Counts  []statusCount `json:"counts"`
	}{seconds, counts}, nil
}

type statusCount struct {
	Status string `json:"status"`
	Orders int    `json:"orders"`
}

// progressToken is the token as the caller wrote it; nil for none.
func progressToken(params json.RawMessage) json.RawMessage {
	var p struct {
		Meta struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	if json.Unmarshal(params, &p) != nil || arguments.Kind(p.Meta.ProgressToken) == 'n' {
		return nil
	}
	return p.Meta.ProgressToken
}

// tellProgress sends one notification. If that fails, the report continues.
func tellProgress(ctx context.Context, to mcp.Peer, token json.RawMessage, step, total int64) {
	params, err := encode(struct {
		ProgressToken json.RawMessage `json:"progressToken"`
		Progress      int64           `json:"progress"`
		Total         int64           `json:"total"`
		Message       string          `json:"message"`
	}{token, step, total, "counting orders"})
	if err != nil {
		return
	}
	_ = to.Notify(ctx, "notifications/progress", params)
}

func (s *shop) fail(_ context.Context, in *args, _ *mcp.Request) (any, error) {
	kind := in.Choice("kind", "tool", "protocol")
	if err := in.done(); err != nil {
		return nil, err
	}
	if kind == "tool" {
		return nil, problemf("this tool always fails: the shop is closed, try another tool")
	}
	return nil, mcp.Errorf(mcp.CodeInternal, "this tool always fails: the shop has burnt down")
}

func (s *shop) exportAll(_ context.Context, in *args, _ *mcp.Request) (any, error) {
	n := in.WholeOr("rows", 1, 20000, 2000)
	if err := in.done(); err != nil {
		return nil, err
	}
	rows, err := encode(sales(int(n), s.customers, s.products))
	return string(rows), err // text only: structured content would just double the size
}
