package app

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
)

func (a *App) registerMetrics() {
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	a.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		gauge("toolfit_mcp_sessions", "Open MCP sessions.", func() float64 { return float64(a.sessions.Len()) }),
		gauge("toolfit_waiting_calls", "Open calls that outlive their requests and that this gateway works on.",
			func() float64 { return float64(a.Waiting.Len()) }),
		gauge("toolfit_replicas", "Gateways on the store that know each other's addresses, with this one.", a.countReplicas),
		gauge("toolfit_store_up", "0 while the store cannot be written to, else 1.", a.storeUp),
		gauge("toolfit_store_bytes", "Size of the store, measured once a minute.", func() float64 { return float64(a.size.Load()) }),
		gauge("toolfit_store_oldest_call_timestamp_seconds", "When the oldest recorded call began, as Unix time; 0 if there is none.",
			func() float64 { return float64(a.oldest.Load()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "toolfit_records_dropped_total", Help: "Call records lost because the store was out for too long.",
		}, func() float64 { return float64(a.Records.Dropped()) }),
		a.refused.counted,
		serverCollector{a},
	)
}

func (a *App) countReplicas() float64 {
	if a.replicas == nil {
		return 1
	}
	return float64(1 + len(a.replicas.Others(a.background)))
}

func (s *storage) storeUp() float64 {
	if s.checkStore(context.Background()) != nil {
		return 0
	}
	return 1
}

var (
	serverUp = prometheus.NewDesc("toolfit_server_up", "0 while the server is down, else 1; disabled servers are left out.",
		[]string{"server"}, nil)
	serverTools = prometheus.NewDesc("toolfit_server_tools", "Tools of the server, held ones included.", []string{"server"}, nil)
	serverQueue = prometheus.NewDesc("toolfit_server_queue", "Calls that wait for a place at the server.", []string{"server"}, nil)
	serverOpen  = prometheus.NewDesc("toolfit_server_breaker_open", "1 while calls are refused after too many failed ones, else 0.",
		[]string{"server"}, nil)
)

// serverCollector reads the state of the servers when metrics are collected.
type serverCollector struct{ app *App }

func (c serverCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{serverUp, serverTools, serverQueue, serverOpen} {
		ch <- d
	}
}

func (c serverCollector) Collect(ch chan<- prometheus.Metric) {
	gates := map[string]upstream.Status{}
	for _, s := range c.app.Pool.Status() {
		gates[string(s.ID)] = s
	}
	for _, s := range c.app.sources().ListServers() {
		if s.State == restapi.Disabled {
			continue
		}
		id := string(s.ID)
		for desc, value := range map[*prometheus.Desc]float64{
			serverUp: oneIf(s.State != upstream.Down), serverTools: float64(s.Tools),
			serverQueue: float64(gates[id].Queued), serverOpen: oneIf(gates[id].Paused),
		} {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, id)
		}
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
