// Package telemetry tells an OpenTelemetry collector about calls: spans and histograms by the
// names of the semantic conventions for MCP, sent over HTTP in the background. A collector that
// is slow or gone costs spans, never a call. Arguments and results leave the gateway only where
// the configuration asks for it, and never with known secrets.
//
// A nil *Telemetry and a nil *Span do nothing, so that calls pay a comparison where it is off.
//
//	tel, err := telemetry.New(cfg.Telemetry, &telemetry.Options{Version: version})
//	defer tel.Close()
//	ctx, span := tel.Begin(ctx, "fit")
//	defer span.End(nil)
package telemetry

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolfit/toolfit/internal/state/config"
)

// Telemetry makes spans and measures operations.
type Telemetry struct {
	tracer  trace.Tracer
	context propagation.TextMapPropagator
	histograms
	opts Options
	ends []func(context.Context) error // of the parts that send
	stop context.CancelFunc            // ends what is being sent

	closing atomic.Bool // nothing is tried again
}

// Options change a Telemetry. The zero value is usable.
type Options struct {
	Version string                      // of the gateway; "": "dev"
	Redact  func(string) string         // removes secrets; nil: there are none
	Logger  *slog.Logger                // nil: discard
	Env     func(string) (string, bool) // looks up OTEL_EXPORTER_ variables and OTEL_SDK_DISABLED; nil: os.LookupEnv

	arguments, results bool
}

// maxSeries limits the series of each histogram.
const maxSeries = 2000

// New starts to collect; Close ends it. It is nil if neither the configuration nor the environment
// names a collector.
func New(cfg config.Telemetry, opts *Options) (*Telemetry, error) {
	t := &Telemetry{context: propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})}
	if opts != nil {
		t.opts = *opts
	}
	t.opts.fill()
	t.opts.arguments = cfg.Arguments
	t.opts.results = cfg.Results
	env := environment(t.opts.Env)
	traces := env.address(cfg.Endpoint, "traces")
	metrics := env.address(cfg.Endpoint, "metrics")
	if traces == "" && metrics == "" || strings.EqualFold(env.text("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	if p := env.text("OTEL_EXPORTER_OTLP_PROTOCOL"); p != "" && p != "http/protobuf" {
		t.opts.Logger.Warn("telemetry is sent as http/protobuf, not as the environment says", "OTEL_EXPORTER_OTLP_PROTOCOL", p)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { // the SDK has one for the whole process, which writes to stderr
		t.opts.Logger.Warn("telemetry: the OTEL_ variables or the SDK have a problem", "error", err)
	}))
	ctx, stop := context.WithCancel(context.Background())
	t.stop = stop
	about, _ := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "toolfit"), attribute.String("service.version", t.opts.Version),
		attribute.String("service.instance.id", rand.Text()),
	), resource.WithTelemetrySDK(), resource.WithFromEnv()) // what it cannot read is logged
	if traces != "" {
		to, err := otlptrace.New(ctx, tracesTo{t.collector(ctx, traces, "traces", cfg.Headers)})
		if err != nil {
			stop()
			return nil, err
		}
		t.trace(about, cfg.Sample, to)
	} else {
		t.trace(about, nil, nil)
	}
	if metrics == "" {
		t.histograms = newHistograms(noop.NewMeterProvider().Meter(scope))
		return t, nil
	}
	to := metricsTo{t.collector(ctx, metrics, "metrics", cfg.Headers), env.temporality()}
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithResource(about), sdkmetric.WithCardinalityLimit(maxSeries),
		sdkmetric.WithReader(sdkmetric.NewPeriodicReader(to)))
	t.histograms = newHistograms(provider.Meter(scope))
	t.ends = append(t.ends, provider.Shutdown)
	return t, nil
}

// scope names us as the maker of spans and metrics.
const scope = "github.com/toolfit/toolfit"

// trace makes the tracer. Without an exporter its spans only carry the context on.
func (t *Telemetry) trace(about *resource.Resource, sample *float64, to *otlptrace.Exporter) {
	with := []sdktrace.TracerProviderOption{sdktrace.WithResource(about)}
	switch {
	case to == nil:
		with = append(with, sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.NeverSample()))) // servers hear what callers decided
	case sample != nil:
		with = append(with, sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(*sample))))
	}
	if to != nil {
		with = append(with, sdktrace.WithBatcher(to)) // what does not fit in its queue is dropped
	}
	provider := sdktrace.NewTracerProvider(with...)
	t.tracer = provider.Tracer(scope)
	t.ends = append(t.ends, provider.Shutdown)
}

func (o *Options) fill() {
	o.Version = cmp.Or(o.Version, "dev")
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
}

// flushTime is how long Close tries to send what is left.
const flushTime = 3 * time.Second

// Close sends what is left, for a short time only.
func (t *Telemetry) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	defer t.stop()
	t.closing.Store(true)
	var all sync.WaitGroup
	for _, end := range t.ends {
		all.Go(func() { end(ctx) }) // failures are logged where they happen
	}
	all.Wait()
}
