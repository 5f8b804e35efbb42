package app

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
)

func (a *App) registerMetrics() {
	a.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "toolfit_mcp_sessions", Help: "Open MCP sessions."},
			func() float64 { return float64(a.sessions.Len()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "toolfit_records_dropped_total", Help: "Call records lost because the store was out for too long.",
		}, func() float64 { return float64(a.Records.Dropped()) }),
		serverCollector{a},
	)
}

var (
	serverUp    = prometheus.NewDesc("toolfit_server_up", "0 while the server is down, else 1; servers that are switched off are left out.", []string{"server"}, nil)
	serverTools = prometheus.NewDesc("toolfit_server_tools", "Tools of the server, held ones included.", []string{"server"}, nil)
)

// serverCollector asks how the servers are when somebody wants to know.
type serverCollector struct{ app *App }

func (c serverCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- serverUp
	ch <- serverTools
}

func (c serverCollector) Collect(ch chan<- prometheus.Metric) {
	for _, s := range c.app.sources().ListServers() {
		if s.State == restapi.Disabled {
			continue
		}
		up := 1.0
		if s.State == upstream.Down {
			up = 0
		}
		ch <- prometheus.MustNewConstMetric(serverUp, prometheus.GaugeValue, up, string(s.ID))
		ch <- prometheus.MustNewConstMetric(serverTools, prometheus.GaugeValue, float64(s.Tools), string(s.ID))
	}
}
