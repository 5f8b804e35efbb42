// Package budget holds what can be counted of a request: allocations, bytes on both wires, tokens, and requests to the server.
// The figures are in budget.txt; a change that moves one of them says so there, where its review sees before and after. It never
// looks at time or CPU, which differ by machine: make bench compares those. It has no code of its own.
//
//	go test ./internal/testkit/budget
//	go test ./internal/testkit/budget -update
package budget
