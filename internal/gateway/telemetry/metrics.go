package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
)

// histograms are the metrics of the semantic conventions.
type histograms struct {
	server, client               metric.Float64Histogram // of operations
	serverSession, clientSession metric.Float64Histogram
}

var buckets = metric.WithExplicitBucketBoundaries(.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 120, 300)

func newHistograms(meter metric.Meter) histograms {
	seconds := func(name, about string) metric.Float64Histogram {
		h, _ := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(about), buckets) // the names are valid
		return h
	}
	return histograms{
		server:        seconds("mcp.server.operation.duration", "How long requests of clients took."),
		client:        seconds("mcp.client.operation.duration", "How long requests to servers took."),
		serverSession: seconds("mcp.server.session.duration", "How long sessions of clients lasted."),
		clientSession: seconds("mcp.client.session.duration", "How long sessions with servers lasted."),
	}
}

// metricsTo sends histograms, the only metrics there are.
type metricsTo struct {
	*collector
	temporality sdkmetric.TemporalitySelector
}

func (m metricsTo) Temporality(k sdkmetric.InstrumentKind) metricdata.Temporality {
	return m.temporality(k)
}

func (metricsTo) Aggregation(k sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(k)
}

func (m metricsTo) Export(ctx context.Context, all *metricdata.ResourceMetrics) error {
	out := &metricspb.ResourceMetrics{
		Resource: &resourcepb.Resource{Attributes: keyValues(all.Resource.Iter())}, SchemaUrl: all.Resource.SchemaURL(),
	}
	for _, s := range all.ScopeMetrics {
		of := &metricspb.ScopeMetrics{Scope: &commonpb.InstrumentationScope{Name: s.Scope.Name, Version: s.Scope.Version}}
		for _, one := range s.Metrics {
			if h, ok := one.Data.(metricdata.Histogram[float64]); ok {
				of.Metrics = append(of.Metrics, &metricspb.Metric{
					Name: one.Name, Description: one.Description, Unit: one.Unit, Data: &metricspb.Metric_Histogram{Histogram: histogram(h)},
				})
			}
		}
		out.ScopeMetrics = append(out.ScopeMetrics, of)
	}
	m.send(ctx, &metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{out}}) // on the wire the same as a request
	return nil
}

func (metricsTo) ForceFlush(context.Context) error { return nil }

func (m metricsTo) Shutdown(context.Context) error {
	m.close()
	return nil
}

func histogram(h metricdata.Histogram[float64]) *metricspb.Histogram {
	out := &metricspb.Histogram{AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE}
	if h.Temporality == metricdata.DeltaTemporality {
		out.AggregationTemporality = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA
	}
	for _, p := range h.DataPoints {
		point := &metricspb.HistogramDataPoint{
			Attributes: keyValues(p.Attributes.Iter()), StartTimeUnixNano: uint64(p.StartTime.UnixNano()), TimeUnixNano: uint64(p.Time.UnixNano()),
			Count: p.Count, Sum: &p.Sum, BucketCounts: p.BucketCounts, ExplicitBounds: p.Bounds,
		}
		if least, ok := p.Min.Value(); ok {
			point.Min = &least
		}
		if most, ok := p.Max.Value(); ok {
			point.Max = &most
		}
		out.DataPoints = append(out.DataPoints, point)
	}
	return out
}

// keyValues writes attributes; ours are texts and whole numbers.
func keyValues(all attribute.Iterator) []*commonpb.KeyValue {
	var out []*commonpb.KeyValue
	for all.Next() {
		a := all.Attribute()
		value := &commonpb.AnyValue{}
		if a.Value.Type() == attribute.INT64 {
			value.Value = &commonpb.AnyValue_IntValue{IntValue: a.Value.AsInt64()}
		} else {
			value.Value = &commonpb.AnyValue_StringValue{StringValue: a.Value.String()}
		}
		out = append(out, &commonpb.KeyValue{Key: string(a.Key), Value: value})
	}
	return out
}
