package telemetry

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// environment is the variables that exporters read. Those of the sampler, the queue and the resource are read by the SDK.
type environment func(string) (string, bool)

func (e environment) text(name string) string {
	value, _ := e(name)
	return strings.TrimSpace(value)
}

// exporter is a variable of one signal, such as "traces", or of all.
func (e environment) exporter(signal, name string) string {
	if own := e.text("OTEL_EXPORTER_OTLP_" + strings.ToUpper(signal) + "_" + name); own != "" {
		return own
	}
	return e.text("OTEL_EXPORTER_OTLP_" + name)
}

// address is where a signal goes: below the configured endpoint or that of the environment, or exactly where the
// variable of the signal says. "": nowhere.
func (e environment) address(configured, signal string) string {
	upper := strings.ToUpper(signal)
	if e.text("OTEL_"+upper+"_EXPORTER") == "none" {
		return ""
	}
	own := e.text("OTEL_EXPORTER_OTLP_" + upper + "_ENDPOINT")
	base := configured
	switch {
	case base != "":
	case own != "":
		return own
	default:
		base = e.text("OTEL_EXPORTER_OTLP_ENDPOINT")
	}
	if base == "" {
		return ""
	}
	before, query, asked := strings.Cut(base, "?")
	address := strings.TrimRight(before, "/") + "/v1/" + signal
	if asked {
		address += "?" + query
	}
	return address
}

// headers are those of the environment: name=value, separated by commas, percent-encoded.
func (e environment) headers(signal string) map[string]string {
	all := map[string]string{}
	for pair := range strings.SplitSeq(e.exporter(signal, "HEADERS"), ",") {
		name, value, found := strings.Cut(pair, "=")
		plain, err := url.PathUnescape(strings.TrimSpace(value))
		if found && err == nil {
			all[strings.TrimSpace(name)] = plain
		}
	}
	return all
}

// certificates are the roots that the collector's certificate must have, and a certificate of our own; nil: the
// system's, and none.
func (e environment) certificates(signal string) (*tls.Config, error) {
	roots := e.exporter(signal, "CERTIFICATE")
	own := e.exporter(signal, "CLIENT_CERTIFICATE")
	if roots == "" && own == "" {
		return nil, nil
	}
	c := &tls.Config{}
	if roots != "" {
		text, err := os.ReadFile(roots)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate", roots)
		}
	}
	if own != "" {
		pair, err := tls.LoadX509KeyPair(own, e.exporter(signal, "CLIENT_KEY"))
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// timeout is how long one request to the collector may take.
func (e environment) timeout(signal string) time.Duration {
	ms, err := strconv.Atoi(e.exporter(signal, "TIMEOUT"))
	if err != nil || ms <= 0 {
		return 10 * time.Second
	}
	return time.Duration(ms) * time.Millisecond
}

func (e environment) temporality() sdkmetric.TemporalitySelector {
	switch strings.ToLower(e.text("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE")) {
	case "delta":
		return sdkmetric.DeltaTemporalitySelector
	case "lowmemory":
		return sdkmetric.LowMemoryTemporalitySelector
	}
	return sdkmetric.CumulativeTemporalitySelector
}
