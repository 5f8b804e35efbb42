package restapi

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolfit/toolfit/internal/base/inbound"
)

// Metrics count requests. A nil *Metrics counts nothing.
type Metrics struct{ requests *prometheus.CounterVec }

// NewMetrics registers the metrics of the routes.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{requests: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "toolfit_http_requests_total", Help: "Requests to the REST API, by route and status code.",
	}, []string{"route", "code"})}
	reg.MustRegister(m.requests)
	return m
}

// counted counts the answers of a handler by its pattern, so that clients cannot create labels.
func (m *Metrics) counted(route string, h http.HandlerFunc) http.HandlerFunc {
	if m == nil {
		return h
	}
	return func(w http.ResponseWriter, r *http.Request) {
		seen := &inbound.StatusWriter{ResponseWriter: w}
		defer func() { m.requests.WithLabelValues(route, strconv.Itoa(seen.Status())).Inc() }()
		h(seen, r)
	}
}
