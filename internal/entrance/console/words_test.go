package console

import (
	"slices"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

func TestNamesAndMasksGoOnInTheNextLineWhereTheyHaveAJoint(t *testing.T) {
	for name, want := range map[string]string{
		"shop__find_customers": "shop__<wbr>find_<wbr>customers",
		"a(id,name),b":         "a(id,<wbr>name),<wbr>b",
		"":                     "",
		"___":                  "___<wbr>",
		"<b>_\u202e":           "&lt;b&gt;_<wbr>\\u202e",
	} {
		if got := string(breakable(name)); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestEveryRepairHasAText(t *testing.T) {
	for _, kind := range append(slices.Clone(fit.Kinds), fit.Drop, fit.Fixed) {
		if text(locale.English, "repaired."+string(kind)) == "" {
			t.Errorf("there is no text for the repair %s", kind)
		}
	}
}

func TestWhatThePolicyDidIsSaidInTheLanguageOfThePage(t *testing.T) {
	for says, want := range map[string]string{"deny": "拒绝", "limit 20/h": "限次 20/h", "watch": "仅观察", "else": "else"} {
		if got := ruling(locale.Chinese, says); got != want {
			t.Errorf("%s is %q, want %q", says, got, want)
		}
	}
	p := callPage{Call: restapi.Call{Policy: "approve pay, approved by Ann, deny by default"}}
	want := []policyRule{{"approve", "pay"}, {"approved", "Ann"}, {"deny", "by default"}}
	if got := p.PolicyRules(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestDatesAreWrittenAsTheLanguageDoes(t *testing.T) {
	zone := time.Local
	time.Local = time.FixedZone("", 8*3600)
	defer func() { time.Local = zone }()
	now := time.Date(2026, 11, 18, 14, 3, 5, 0, time.Local)
	tests := []struct {
		name, en, zh, agoEn, agoZh string
		at                         time.Time
	}{
		{"now", "14:03:05", "14:03:05", "now", "现在", now},
		{"a minute ago", "14:02:05", "14:02:05", "1 minute ago", "1分钟前", now.Add(-time.Minute)},
		{"this morning", "09:08:07", "09:08:07", "4 hours ago", "4小时前", time.Date(2026, 11, 18, 9, 8, 7, 0, time.Local)},
		{"yesterday", "Nov 17, 23:50:00", "11月17日 23:50:00", "14 hours ago", "14小时前", time.Date(2026, 11, 17, 15, 50, 0, 0, time.UTC)},
		{"a day and a bit ago", "Nov 17, 14:00:00", "11月17日 14:00:00", "Nov 17, 14:00:00", "11月17日 14:00:00", time.Date(2026, 11, 17, 14, 0, 0, 0, time.Local)},
		{"this day a year ago", "Nov 18, 2025, 14:03:05", "2025年11月18日 14:03:05", "Nov 18, 2025, 14:03:05", "2025年11月18日 14:03:05", now.AddDate(-1, 0, 0)},
		{"tomorrow", "Nov 19, 14:03:05", "11月19日 14:03:05", "Nov 19, 14:03:05", "11月19日 14:03:05", now.AddDate(0, 0, 1)},
	}
	for _, tt := range tests {
		for i, got := range []string{clock(locale.English, tt.at, now), clock(locale.Chinese, tt.at, now), ago(locale.English, tt.at, now), ago(locale.Chinese, tt.at, now)} {
			if want := []string{tt.en, tt.zh, tt.agoEn, tt.agoZh}[i]; got != want {
				t.Errorf("%s: %s, want %s", tt.name, got, want)
			}
		}
	}
	if en, zh := exact(locale.English, now), exact(locale.Chinese, now); en != "Nov 18, 2026, 14:03:05 GMT+08:00" || zh != "2026年11月18日 14:03:05 GMT+08:00" {
		t.Errorf("%s, %s", en, zh)
	}
}

func TestNumbersAreGrouped(t *testing.T) {
	for got, want := range map[string]string{
		number(0): "0", number(-1234): "-1,234", number(12345678): "12,345,678",
		text(locale.English, "learned.tokens", 12345, int64(999)): "12,345 of 999 tokens",
		share(0.264): "26%", share(0.001): "<1%", size(1500): "1.5 kB",
		took(0): "<0.1 ms", took(90 * time.Second): "1 min 30 s", took(61*time.Minute + 59*time.Second): "1 h 1 min", took(59*time.Minute + 59_600*time.Millisecond): "1 h 0 min",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
