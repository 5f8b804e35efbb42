package jqworker

import "testing"

func TestAPanicOfJQIsNoLackOfMemory(t *testing.T) {
	_, err := caught(func() ([]byte, error) { panic("odd") })
	if err == nil || err.Error() != "jq cannot run this program: odd" {
		t.Errorf("%v", err)
	}
}
