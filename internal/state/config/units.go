package config

import (
	"net/netip"
	"strconv"
	"strings"
	"time"
)

const (
	day         = 24 * time.Hour
	maxDuration = 36500 * day
	maxSize     = 1 << 50
)

// ParseDuration reads a duration as the file has it: 500ms, 30s, 1h30m, 30d, 1d12h and 0.
func ParseDuration(s string) (time.Duration, bool) {
	var days time.Duration
	if head, rest, ok := strings.Cut(s, "d"); ok {
		n, err := strconv.ParseUint(head, 10, 16)
		if err != nil {
			return 0, false
		}
		if days = time.Duration(n) * day; rest == "" {
			return days, days <= maxDuration
		}
		s = rest
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || strings.HasPrefix(s, "+") || d > maxDuration {
		return 0, false
	}
	return days + d, days+d <= maxDuration
}

// formatDuration writes what ParseDuration reads, without empty parts.
func formatDuration(d time.Duration) string {
	if d <= 0 {
		return "0s"
	}
	if d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// parseSize reads bytes: 4194304, 512KB, 4MB, 2GB, 1TB. A KB is 1024 bytes.
func parseSize(s string) (int64, bool) {
	upper := strings.ToUpper(s)
	shift := 0
	for unit, by := range map[string]int{"KB": 10, "MB": 20, "GB": 30, "TB": 40, "KIB": 10, "MIB": 20, "GIB": 30, "TIB": 40} {
		if head, ok := strings.CutSuffix(upper, unit); ok {
			upper, shift = strings.TrimSpace(head), by
			break
		}
	}
	if shift == 0 {
		upper = strings.TrimSpace(strings.TrimSuffix(upper, "B"))
	}
	n, err := strconv.ParseUint(upper, 10, 63)
	if err != nil || n > maxSize>>shift {
		return 0, false
	}
	return int64(n) << shift, true
}

// parseRate reads 50/s, 600/m and 5000/h as a number per second.
func parseRate(s string) (float64, bool) {
	count, unit, _ := strings.Cut(s, "/")
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[strings.TrimSpace(unit)]
	n, err := strconv.ParseUint(strings.TrimSpace(count), 10, 32)
	if err != nil || n == 0 || n > maxCalls || per == 0 {
		return 0, false
	}
	return float64(n) / per.Seconds(), true
}

// parseNetwork reads 10.0.0.0/8, or an address as a network of one.
func parseNetwork(s string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.Masked(), true
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, false
	}
	a = a.Unmap()
	return netip.PrefixFrom(a, a.BitLen()), true
}
