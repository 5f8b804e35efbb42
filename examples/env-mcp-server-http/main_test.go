package main

import "testing"

func TestThePortIs3000UnlessItIsNamed(t *testing.T) {
	for port, want := range map[string]string{"": "localhost:3000", "8080": "localhost:8080"} {
		if got := address(port); got != want {
			t.Errorf("PORT=%s: got %s", port, got)
		}
	}
}
