package recall

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// readQuery reads the three forms of a request: everything in the body, a single instance, or the ids
// in the URL.
func (s *Service) readQuery(r *http.Request) (Query, error) {
	body, err := s.readObject(r)
	if err != nil {
		return Query{}, err
	}
	var q Query
	var one, oldest raw
	w := rawjson.Object(body)
	for w.Next() {
		switch key := string(w.Key); key {
		case "kn_id":
			q.Network, err = id(key, w.Value)
		case "at_id":
			q.ActionType, err = id(key, w.Value)
		case "_instance_identities":
			q.Instances, err = readInstances(w.Value)
		case "_instance_identity":
			one, err = instance(key, w.Value)
		case "unique_identity":
			oldest, err = instance(key, w.Value)
		}
		if err != nil {
			return q, err
		}
	}
	for _, single := range []raw{one, oldest} {
		if len(q.Instances) == 0 && single != nil {
			q.Instances = []raw{single}
		}
	}
	asked := r.URL.Query()
	q.Network = cmp.Or(q.Network, asked.Get("kn_id"))
	q.ActionType = cmp.Or(q.ActionType, asked.Get("at_id"))
	switch {
	case q.Network == "":
		return q, wrong("kn_id", "network", say("got.nothing"))
	case q.ActionType == "":
		return q, wrong("at_id", "action", say("got.nothing"))
	}
	return q, nil
}

func id(field string, value raw) (string, error) {
	s, ok := rawjson.String(value)
	if !ok && !rawjson.IsNull(value) {
		return "", wrong(field, "text", kindOf(value))
	}
	return s, nil
}

// readInstances reads a list of instances, without the empty ones.
func readInstances(value raw) ([]raw, error) {
	if rawjson.IsNull(value) {
		return nil, nil
	}
	if kind := kindOf(value); kind != "array" {
		return nil, wrong("_instance_identities", "instances", kind)
	}
	var list []raw
	w := rawjson.Array(value)
	for i := 0; w.Next(); i++ {
		one, err := instance("_instance_identities["+strconv.Itoa(i)+"]", w.Value)
		if err != nil {
			return nil, err
		}
		if one != nil {
			list = append(list, one)
		}
	}
	return list, nil
}

// instance reads one instance; nil if it is empty.
func instance(field string, value raw) (raw, error) {
	if rawjson.IsNull(value) {
		return nil, nil
	}
	if kind := kindOf(value); kind != "object" {
		return nil, wrong(field, "instance", kind)
	}
	if w := rawjson.Object(value); !w.Next() {
		return nil, nil
	}
	return value, nil
}
