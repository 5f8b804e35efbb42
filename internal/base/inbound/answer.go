package inbound

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
)

// WriteJSON answers with a value as JSON.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.Encode(v) // a client that has left needs no answer
}

// Recorder is an answer that is kept instead of sent.
type Recorder struct {
	header http.Header
	Status int
	Body   bytes.Buffer
}

// NewRecorder makes an empty answer.
func NewRecorder() *Recorder { return &Recorder{header: http.Header{}, Status: http.StatusOK} }

func (r *Recorder) Header() http.Header         { return r.header }
func (r *Recorder) WriteHeader(status int)      { r.Status = status }
func (r *Recorder) Write(b []byte) (int, error) { return r.Body.Write(b) }

// StatusWriter remembers the status of an answer.
type StatusWriter struct {
	http.ResponseWriter
	status int
}

// Status returns the status; 200 until another is written.
func (w *StatusWriter) Status() int { return cmp.Or(w.status, http.StatusOK) }

func (w *StatusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a connection be hijacked, and answers be flushed.
func (w *StatusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
