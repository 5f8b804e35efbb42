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

// ParseTime reads a time as people write it: in the local zone, unless it names one.
func ParseTime(s string) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// ParseDuration reads a duration as the file has it: 500ms, 30s, 1h30m, 30d, 1d12h and 0.
func ParseDuration(s string) (time.Duration, bool) {
	var days time.Duration
	if head, rest, ok := strings.Cut(s, "d"); ok {
		n, err := strconv.ParseUint(head, 10, 16)
		if err != nil {
			return 0, false
		}
		days = time.Duration(n) * day
		if rest == "" {
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
	return strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(d.String())
}

// parseSize reads bytes: 4194304, 512KB, 4MB, 2GB, 1TB. A KB is 1024 bytes.
func parseSize(s string) (int64, string) {
	upper := strings.ToUpper(s)
	shift := 0
	for unit, by := range map[string]int{"KB": 10, "MB": 20, "GB": 30, "TB": 40, "KIB": 10, "MIB": 20, "GIB": 30, "TIB": 40} {
		if head, ok := strings.CutSuffix(upper, unit); ok {
			upper = strings.TrimSpace(head)
			shift = by
			break
		}
	}
	if shift == 0 {
		upper = strings.TrimSpace(strings.TrimSuffix(upper, "B"))
	}
	n, err := strconv.ParseUint(upper, 10, 63)
	if err != nil || n == 0 || n > maxSize>>shift {
		return 0, "expected a size over 0, such as 512KB, 4MB, 2GB or a number of bytes"
	}
	return int64(n) << shift, ""
}

// parseRate reads 50/s, 600/m and 5000/h as a number per second.
func parseRate(s string) (float64, string) {
	count, unit, _ := strings.Cut(s, "/")
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[strings.TrimSpace(unit)]
	n, err := strconv.ParseUint(strings.TrimSpace(count), 10, 32)
	if err != nil || n == 0 || n > maxCalls || per == 0 {
		return 0, "expected a number of requests and its time, such as 50/s, 600/m or 5000/h"
	}
	return float64(n) / per.Seconds(), ""
}

// parseDrain reads how long a gateway that goes down serves on. Its whole end must take less than half a minute.
func parseDrain(s string) (time.Duration, string) {
	v, ok := ParseDuration(s)
	if !ok || v < 0 || v > 10*time.Second {
		return 0, "expected a duration of at most 10s, such as 5s"
	}
	return v, ""
}

// parseNetwork reads 10.0.0.0/8, or an address as a network of one.
func parseNetwork(s string) (netip.Prefix, string) {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.Masked(), ""
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, "expected a network or an address, such as 10.0.0.0/8 or 127.0.0.1"
	}
	a = a.Unmap()
	return netip.PrefixFrom(a, a.BitLen()), ""
}
