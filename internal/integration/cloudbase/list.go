package cloudbase

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/mask"
)

// findList returns the list from either place where the API puts it; null or nil where there is
// none.
func findList(response json.RawMessage) (list json.RawMessage) {
	for _, path := range [][]string{{"EnvList"}, {"Data", "EnvList"}} {
		switch value := rawjson.Get(response, path...); {
		case !rawjson.IsNull(value):
			return value
		case value != nil:
			list = value
		}
	}
	return list
}

func isArray(value json.RawMessage) bool { return len(value) > 0 && value[0] == '[' }

func rowsOf(array json.RawMessage) (rows []json.RawMessage) {
	for w := rawjson.Array(array); w.Next(); {
		rows = append(rows, w.Value)
	}
	return rows
}

// environments lists all environments that people work with. If the API rejects the filter or
// returns no list, as older private clouds do, it asks without it.
func (s *Server) environments(ctx context.Context) (list json.RawMessage, err error) {
	response, err := s.api.call(ctx, "DescribeEnvs", map[string]any{
		"EnvTypes":  []string{"weda", "baas"},
		"IsVisible": false,
		"Channels":  []string{"dcloud", "iotenable", "tem", "scene_module"},
	})
	list = findList(response)
	if err == nil && !rawjson.IsNull(list) {
		return list, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	response, err = s.api.call(ctx, "DescribeEnvs", map[string]any{})
	return findList(response), err
}

// list returns the environments that match the query, with all fields unless it names some.
func (s *Server) list(ctx context.Context, q query) (json.RawMessage, error) {
	list, err := s.environments(ctx)
	switch {
	case err != nil:
		return nil, err
	case list == nil:
		return json.RawMessage(`{}`), nil
	case !isArray(list):
		return fmt.Appendf(nil, `{"EnvList":%s}`, list), nil
	}
	rows := rowsOf(list)
	unknown := q.unknown(list, len(rows))
	filters := q.filters()
	if s.bound != "" && len(rows) > 1 {
		rows = slices.DeleteFunc(rows, func(row json.RawMessage) bool { return textOf(row, "EnvId") != s.bound })
		filters = append(filters, filter{"boundEnvId", s.bound})
	}
	out, err := q.page(slices.DeleteFunc(rows, q.excludes), filters)
	if err == nil && len(unknown) > 0 {
		out = append(append(append(out[:len(out)-1], `,"UnknownFields":`...), rawjson.Encode(unknown)...), '}')
	}
	return out, err
}

// unknown returns the requested fields that no row has.
func (q query) unknown(list json.RawMessage, rows int) []string {
	if q.fields == nil || rows == 0 {
		return nil
	}
	var seen mask.Tally
	if _, err := q.fields.Apply(nil, fmt.Appendf(nil, `{"EnvList":%s}`, list), &seen); err != nil {
		return nil // and page says why
	}
	return q.fields.Unseen(&seen)
}

func textOf(row json.RawMessage, key string) string {
	s, _ := rawjson.String(rawjson.Get(row, key))
	return s
}

// excludes tells whether a filter of the query excludes a row.
func (q query) excludes(row json.RawMessage) bool {
	alias := textOf(row, "Alias")
	return q.envID != "" && textOf(row, "EnvId") != q.envID ||
		q.region != "" && textOf(row, "Region") != q.region ||
		q.aliasExact && alias != q.alias ||
		!strings.Contains(strings.ToLower(alias), strings.ToLower(q.alias))
}

// filter is an applied filter, as shown to the caller.
type filter struct {
	name  string
	value any
}

func (q query) filters() (out []filter) {
	for _, f := range []filter{{"alias", q.alias}, {"envId", q.envID}, {"region", q.region}} {
		if f.value != "" {
			out = append(out, f)
		}
	}
	if q.aliasExact {
		out = append(out, filter{"aliasExact", true})
	}
	return out
}

// page writes the page of rows that the query asks for.
func (q query) page(rows []json.RawMessage, filters []filter) (json.RawMessage, error) {
	total := len(rows)
	from := min(q.offset, total)
	to := total
	if q.limit > 0 {
		to = min(total, from+q.limit)
	}
	b := []byte(`{"EnvList":[`)
	for i, row := range rows[from:to] {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, row...)
	}
	b = append(b, ']', '}')
	if q.fields != nil {
		var err error
		b, err = q.fields.Apply(nil, b, &mask.Tally{})
		if err != nil {
			return nil, fmt.Errorf("cut rows to fields: %w", err)
		}
	}
	b = strconv.AppendInt(append(b[:len(b)-1], `,"TotalCount":`...), int64(total), 10)
	if q.limit > 0 {
		b = fmt.Appendf(b, `,"Limit":%d`, q.limit)
	}
	if q.limit > 0 || q.offset > 0 {
		b = fmt.Appendf(b, `,"Offset":%d,"HasMore":%t`, q.offset, to < total)
	}
	if len(filters) > 0 {
		b = append(b, `,"AppliedFilters":`...)
		b = appendFilters(b, filters)
	}
	return append(b, '}'), nil
}

func appendFilters(b []byte, filters []filter) []byte {
	for i, f := range filters {
		b = append(b, "{,"[min(i, 1)])
		b = append(rawjson.AppendString(b, f.name), ':')
		if s, ok := f.value.(string); ok {
			b = rawjson.AppendString(b, s)
		} else {
			b = fmt.Append(b, f.value)
		}
	}
	return append(b, '}')
}
