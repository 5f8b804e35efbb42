package fake

import (
	"encoding/json"
	"errors"
	"net/http"
)

// Scene answers one request. The last argument makes the usual answer.
type Scene func(w http.ResponseWriter, r *http.Request, answer func() (any, error))

func usual(w http.ResponseWriter, _ *http.Request, answer func() (any, error)) {
	v, err := answer()
	if err != nil {
		var told apiError
		errors.As(err, &told) // the only kind there is
		refuse(w, told.code, told.message)
		return
	}
	respond(w, v)
}

// Nested wraps the usual answer in Data.
func Nested(w http.ResponseWriter, r *http.Request, answer func() (any, error)) {
	usual(w, r, func() (any, error) {
		v, err := answer()
		return map[string]any{"Data": v}, err
	})
}

// Fail answers with an error.
func Fail(code, message string) Scene {
	return func(w http.ResponseWriter, _ *http.Request, _ func() (any, error)) { refuse(w, code, message) }
}

// Throttle answers that there were too many requests.
func Throttle(w http.ResponseWriter, _ *http.Request, _ func() (any, error)) {
	refuse(w, "RequestLimitExceeded", "Your current request times equals to 21 in a second, which exceeds the frequency limit 20 for a second. Please reduce the frequency of calls.")
}

// Answer answers with the JSON text as Response.
func Answer(text string) Scene {
	return func(w http.ResponseWriter, _ *http.Request, _ func() (any, error)) {
		write(w, http.StatusOK, "application/json", []byte(`{"Response":`+text+`}`))
	}
}

// Raw answers with any status and body.
func Raw(status int, contentType, body string) Scene {
	return func(w http.ResponseWriter, _ *http.Request, _ func() (any, error)) {
		write(w, status, contentType, []byte(body))
	}
}

// Slow answers once the channel is closed.
func Slow(until <-chan struct{}) Scene {
	return func(w http.ResponseWriter, r *http.Request, answer func() (any, error)) {
		select {
		case <-until:
			usual(w, r, answer)
		case <-r.Context().Done():
		}
	}
}

const requestID = "6f9f3c1e-0000-4000-8000-000000000000"

// respond writes v and the request id as Response.
func respond(w http.ResponseWriter, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		refuse(w, "InternalError", err.Error())
		return
	}
	body := append([]byte(`{"Response":`), raw[:len(raw)-1]...)
	write(w, http.StatusOK, "application/json", append(body, `,"RequestId":"`+requestID+`"}}`...))
}

// refuse writes an error, with status 200 like the API.
func refuse(w http.ResponseWriter, code, message string) {
	body, _ := json.Marshal(map[string]any{"Response": map[string]any{ // strings only
		"Error": map[string]string{"Code": code, "Message": message}, "RequestId": requestID,
	}})
	write(w, http.StatusOK, "application/json", body)
}

func write(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	w.Write(body) // a client that has left needs no answer
}
