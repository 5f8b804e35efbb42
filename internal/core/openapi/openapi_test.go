package openapi_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/openapi"
)

func get(raw []byte, keys ...string) []byte { return rawjson.Get(raw, keys...) }

const testBase = "http://127.0.0.1:9/base"

func isFault(err error) bool {
	var f *fault.Error
	return errors.As(err, &f)
}

// read reads a document that must be good enough to have operations. Without options its API
// is at testBase.
func read(t testing.TB, text string, opts *openapi.Options) ([]*openapi.Operation, []openapi.Problem) {
	t.Helper()
	if opts == nil {
		opts = &openapi.Options{Base: testBase}
	}
	doc, err := openapi.Read([]byte(text), opts)
	if err != nil {
		t.Fatal(err)
	}
	ops, problems := doc.Operations(openapi.Filter{})
	for _, op := range ops {
		if !json.Valid(op.Definition) {
			t.Fatalf("%s: no JSON: %s", op.Name, op.Definition)
		}
		for _, member := range []string{"inputSchema", "outputSchema"} {
			if raw := get(op.Definition, member); raw != nil {
				if _, err := compile(raw); err != nil {
					t.Fatalf("%s: %v in %s", op.Name, err, raw)
				}
			}
		}
	}
	return ops, problems
}

// one reads a document of one sound operation without problems.
func one(t testing.TB, text string, opts *openapi.Options) *openapi.Operation {
	t.Helper()
	ops, problems := read(t, text, opts)
	if len(ops) != 1 || len(problems) > 0 {
		t.Fatalf("%d operations, problems %v", len(ops), problems)
	}
	return ops[0]
}

// operation is a document with one operation, in YAML flow or block at four blanks.
func operation(format, path, method, body string) string {
	head := "openapi: " + format + "\n"
	if strings.HasPrefix(format, "2") {
		head = "swagger: '2.0'\n"
	}
	return head + "info: {title: t, version: '1'}\npaths:\n  " + path + ":\n    " + method + ":\n" + body
}

func send(t testing.TB, op *openapi.Operation, args string) *openapi.Request {
	t.Helper()
	req, err := op.Request(json.RawMessage(args))
	if err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	return req
}

func refused(t testing.TB, op *openapi.Operation, args, pointer string) {
	t.Helper()
	_, err := op.Request(json.RawMessage(args))
	if !fault.Is(err, fault.BadArguments) {
		t.Errorf("%s was not refused as bad arguments: %v", args, err)
		return
	}
	if got, _ := rawjson.String(get(fault.As(err).Details, "pointer")); got != pointer {
		t.Errorf("%s: the pointer is %q, want %q (%v)", args, got, pointer, err)
	}
}
