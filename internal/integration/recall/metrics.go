package recall

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolfit/toolfit/internal/base/inbound"
)

// Metrics count requests and conversions. A nil *Metrics counts nothing.
type Metrics struct {
	requests    *prometheus.CounterVec
	duration    *prometheus.HistogramVec
	conversions *prometheus.CounterVec
}

// NewMetrics registers the metrics.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolfit_recall_requests_total", Help: "Requests to action recall, by route and status code.",
		}, []string{"route", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "toolfit_recall_request_seconds", Help: "How long requests to action recall took.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2, 3, 5, 10, 30},
		}, []string{"route"}),
		conversions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolfit_recall_conversions_total", Help: "Schemas converted for function calling, by outcome: ok, degraded or failed.",
		}, []string{"outcome"}),
	}
	reg.MustRegister(m.requests, m.duration, m.conversions)
	for _, outcome := range []string{"ok", "degraded", "failed"} {
		m.conversions.WithLabelValues(outcome) // creates the series at 0, for alerts that compare them
	}
	return m
}

func (m *Metrics) converted(outcome string) {
	if m != nil {
		m.conversions.WithLabelValues(outcome).Inc()
	}
}

// counted counts and times the answers of a handler.
func (m *Metrics) counted(route string, now func() time.Time, h http.HandlerFunc) http.HandlerFunc {
	if m == nil {
		return h
	}
	return func(w http.ResponseWriter, r *http.Request) {
		seen := &inbound.StatusWriter{ResponseWriter: w}
		from := now()
		defer func() {
			m.requests.WithLabelValues(route, strconv.Itoa(seen.Status())).Inc()
			m.duration.WithLabelValues(route).Observe(now().Sub(from).Seconds())
		}()
		h(seen, r)
	}
}
