package config

import (
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "500ms": 500 * time.Millisecond, "10m": 10 * time.Minute, "1h30m": 90 * time.Minute,
		"30d": 30 * day, "1d12h": 36 * time.Hour, "1.5h": 90 * time.Minute,
		"": -1, "60": -1, "-5s": -1, "+5s": -1, "d": -1, "1d-5h": -1, "99999999d": -1, "36501d": -1, "1dd": -1, "天": -1, "1h 30m": -1,
	} {
		got, ok := parseDuration(in)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("parseDuration(%q) = %v, %v; want %v", in, got, ok, want)
		}
	}
}

func TestFormatDurationIsReadBack(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-1: "0s", 90 * time.Minute: "1h30m", time.Hour: "1h", 10 * time.Minute: "10m", 10 * time.Second: "10s",
		30 * day: "30d", 25 * time.Hour: "25h", time.Hour + time.Second: "1h0m1s", 500 * time.Millisecond: "500ms",
	} {
		got := formatDuration(d)
		if back, ok := parseDuration(got); got != want || !ok || back != max(d, 0) {
			t.Errorf("formatDuration(%v) = %q, want %q; read back %v", d, got, want, back)
		}
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "1": 1, "12B": 12, "512KB": 512 << 10, "4MB": 4 << 20, "4mb": 4 << 20, "2GB": 2 << 30, "1TB": 1 << 40, "4 MiB": 4 << 20,
		"": -1, "MB": -1, "-1": -1, "1.5GB": -1, "99999999TB": -1, "9223372036854775807": -1, "4M": -1, "1KBB": -1,
	} {
		got, ok := parseSize(in)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("parseSize(%q) = %v, %v; want %v", in, got, ok, want)
		}
	}
}
