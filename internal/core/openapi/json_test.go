package openapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// pair and object are JSON with the order of its members kept.
type (
	pair struct {
		key   string
		value any
	}
	ordered []pair
)

func decode(raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := decodeValue(d)
	if err != nil {
		panic(fmt.Sprintf("%v in %.200s", err, raw))
	}
	return v
}

func decodeValue(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		out := ordered{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := decodeValue(d)
			if err != nil {
				return nil, err
			}
			out = append(out, pair{key.(string), v})
		}
		_, err := d.Token()
		return out, err
	case json.Delim('['):
		out := []any{}
		for d.More() {
			v, err := decodeValue(d)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		_, err := d.Token()
		return out, err
	}
	return t, nil
}

func yamlValue(b *bytes.Buffer, v any, indent int) {
	pad := strings.Repeat("  ", indent)
	switch v := v.(type) {
	case ordered:
		if len(v) == 0 {
			b.WriteString(" {}\n")
			return
		}
		b.WriteByte('\n')
		for _, p := range v {
			fmt.Fprintf(b, "%s%s:", pad, yamlKey(p.key))
			yamlValue(b, p.value, indent+1)
		}
	case []any:
		if len(v) == 0 {
			b.WriteString(" []\n")
			return
		}
		b.WriteByte('\n')
		for _, e := range v {
			b.WriteString(pad + "-")
			yamlValue(b, e, indent+1)
		}
	case string:
		fmt.Fprintf(b, " %s\n", yamlText(v))
	default:
		raw, _ := json.Marshal(v)
		fmt.Fprintf(b, " %s\n", raw)
	}
}

func yamlKey(s string) string {
	if s != "" && !strings.ContainsAny(s, "{}[]:#&*!|>'\"%@`, ~<") && s[0] != '-' && s[0] != '?' {
		return s
	}
	raw, _ := json.Marshal(s)
	return string(raw)
}

// yamlText leaves sentences plain, as people do.
func yamlText(s string) string {
	if len(s) > 12 && !strings.ContainsAny(s, "{}[]:#&*!|>'\"%@`\n\\~<") && s[0] != '-' && s[0] != '?' && s[0] > '9' && strings.TrimSpace(s) == s {
		return s
	}
	raw, _ := json.Marshal(s)
	return string(raw)
}
