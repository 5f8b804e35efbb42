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
		got, ok := ParseDuration(in)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", in, got, ok, want)
		}
	}
}

func TestFormatDurationIsReadBack(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-1: "0s", 90 * time.Minute: "1h30m", time.Hour: "1h", 10 * time.Minute: "10m", 10 * time.Second: "10s",
		30 * day: "30d", 25 * time.Hour: "25h", time.Hour + time.Second: "1h0m1s", 500 * time.Millisecond: "500ms",
	} {
		got := formatDuration(d)
		if back, ok := ParseDuration(got); got != want || !ok || back != max(d, 0) {
			t.Errorf("formatDuration(%v) = %q, want %q; read back %v", d, got, want, back)
		}
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{
		"0": -1, "1": 1, "12B": 12, "512KB": 512 << 10, "4MB": 4 << 20, "4mb": 4 << 20, "2GB": 2 << 30, "1TB": 1 << 40, "4 MiB": 4 << 20,
		"": -1, "MB": -1, "-1": -1, "1.5GB": -1, "99999999TB": -1, "9223372036854775807": -1, "4M": -1, "1KBB": -1,
	} {
		got, wrong := parseSize(in)
		ok := wrong == ""
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("parseSize(%q) = %v, %v; want %v", in, got, ok, want)
		}
	}
}

func TestParseRate(t *testing.T) {
	for in, want := range map[string]float64{
		"50/s": 50, "600/m": 10, "3600/h": 1, "1/m": 1.0 / 60, "5 / s": 5,
		"": -1, "50": -1, "/s": -1, "0/s": -1, "-1/s": -1, "1.5/s": -1, "50/d": -1, "50/s/s": -1, "99999999/s": -1,
	} {
		got, wrong := parseRate(in)
		ok := wrong == ""
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("parseRate(%q) = %v, %v; want %v", in, got, ok, want)
		}
	}
}

func TestParseNetwork(t *testing.T) {
	for in, want := range map[string]string{
		"10.0.0.0/8": "10.0.0.0/8", "10.1.2.3/8": "10.0.0.0/8", "127.0.0.1": "127.0.0.1/32", "::1": "::1/128", "fd00::/8": "fd00::/8",
		"::ffff:10.0.0.1": "10.0.0.1/32",
		"":                "", "localhost": "", "10.0.0.0/33": "", "fe80::1%eth0": "", "10.0.0.1:80": "",
	} {
		got, wrong := parseNetwork(in)
		ok := wrong == ""
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("parseNetwork(%q) = %v, %v; want %q", in, got, ok, want)
		}
	}
}

func TestARateWithoutABurstAllowsTwoSecondsOfIt(t *testing.T) {
	for in, want := range map[string]int{"50/s": 100, "600/m": 20, "1/m": 1} {
		if got := parse(t, "toolfit.yaml", "rate: {perKey: "+in+"}\n").Rate.Burst; got != want {
			t.Errorf("burst of %s is %d, want %d", in, got, want)
		}
	}
}
