package demo

import (
	"fmt"

	"github.com/toolfit/toolfit/internal/integration/cloudbase"
	"github.com/toolfit/toolfit/internal/integration/cloudbase/fake"
	"github.com/toolfit/toolfit/internal/integration/cloudbase/picker"
)

// Cloud makes the server "cloud": the built-in server for CloudBase as everybody uses it, but
// for the cloud, which is a fake of 40 environments inside this process. Its list is far
// larger than what a reader needs of it. Without a picker nobody can pick.
func Cloud(p *picker.Picker) *cloudbase.Server {
	key := map[string]string{"TENCENTCLOUD_SECRETID": fake.SecretID, "TENCENTCLOUD_SECRETKEY": fake.SecretKey}
	lookup := func(name string) (string, bool) {
		value, ok := key[name]
		return value, ok
	}
	s, err := cloudbase.New(lookup, p, &cloudbase.Options{Transport: fake.New(nil).Transport()})
	if err != nil {
		panic(fmt.Sprintf("demo: make the cloud: %v", err)) // these settings are right
	}
	return s
}
