// Package e2e holds the tests of the whole: the gateway between real clients and real
// servers, over real pipes and sockets. It has no code of its own.
//
// Most tests run the gateway inside the test, where the race detector sees it. Those that
// kill it run the built program. The servers are the npm ones where they are installed
// (see internal/testkit/testparts), and the test binary itself, run again as a child.
package e2e
