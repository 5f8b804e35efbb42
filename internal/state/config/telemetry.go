package config

import "strconv"

// Telemetry says where traces and metrics go. What is not set is as the OTEL_ variables of the environment say.
type Telemetry struct {
	Endpoint  string // of an OpenTelemetry collector (OTLP over HTTP), such as http://127.0.0.1:4318; "": none was set
	Headers   map[string]string
	Sample    *float64 // the share of traces that are recorded, 0 to 1; nil: none was set
	Arguments bool     // spans have the arguments of calls
	Results   bool     // spans have the results of calls
}

func (t *Telemetry) read(d *decoder, at place, n *node) {
	d.object(at, n, t.fields())
	d.secretsIn(t.Endpoint)
}

func (t *Telemetry) fields() []field {
	return []field{
		{"endpoint", textInto(&t.Endpoint, urlLike("http://127.0.0.1:4318"))},
		{"headers", mapInto(&t.Headers, checkHeaderName, checkHeaderValue, func(d *decoder, _, value string) { d.secret(value) })},
		{"sample", parsedInto(&t.Sample, parseShare)},
		{"arguments", boolInto(&t.Arguments)},
		{"results", boolInto(&t.Results)},
	}
}

func parseShare(s string) (*float64, string) {
	share, err := strconv.ParseFloat(s, 64)
	if err != nil || !(share >= 0 && share <= 1) {
		return nil, "expected a number from 0 to 1, such as 0.1"
	}
	return &share, ""
}
